// SPDX-License-Identifier: Apache-2.0
#include "kane_dynamics_cpp/description_difference.hpp"

#include <urdf/model.h>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace kane_dynamics
{
namespace
{

constexpr double ROUNDOFF = 1e-9;  // of numbers that were printed and read again
using Numbers = std::vector<double>;

void parse(const std::string & text, const char * name, urdf::Model & model)
{
  if (!model.initString(text)) {
    throw std::runtime_error(std::string(name) + " is no URDF");
  }
}

Numbers numbers(const urdf::Pose & pose)
{
  const auto & p = pose.position;
  const auto & r = pose.rotation;
  const double sign = r.w < 0.0 ? -1.0 : 1.0;
  return {p.x, p.y, p.z, sign * r.x, sign * r.y, sign * r.z, sign * r.w};
}

Numbers numbers(const urdf::Link & link)
{
  if (!link.inertial) {
    return {};
  }
  const auto & x = *link.inertial;
  auto list = numbers(x.origin);
  list.insert(list.end(), {x.mass, x.ixx, x.ixy, x.ixz, x.iyy, x.iyz, x.izz});
  return list;
}

Numbers numbers(const urdf::Joint & joint)
{
  auto list = numbers(joint.parent_to_joint_origin_transform);
  list.push_back(joint.type);
  if (joint.type != urdf::Joint::FIXED && joint.type != urdf::Joint::FLOATING) {
    list.insert(list.end(), {joint.axis.x, joint.axis.y, joint.axis.z});
  }
  return list;
}

bool near(const Numbers & one, const Numbers & other)
{
  bool same = one.size() == other.size();
  for (std::size_t k = 0; same && k < one.size(); ++k) {
    same = std::abs(one[k] - other[k]) <= ROUNDOFF * (1.0 + std::abs(one[k]));
  }
  return same;
}

std::string text(const Numbers & list)
{
  std::ostringstream stream;
  for (const double x : list) {
    stream << (stream.tellp() > 0 ? " " : "") << x;
  }
  return "[" + stream.str() + "]";
}

std::string difference(
  const std::string & name, const Numbers & built, const Numbers & described)
{
  return near(built, described) ? "" :
         name + ": the library has " + text(built) + ", the description " + text(described);
}

}  // namespace

std::string description_difference(const std::string & urdf, const std::string & description)
{
  if (urdf.empty() || urdf == description) {
    return "";
  }
  urdf::Model built, described;
  parse(urdf, "the text that the library was built from", built);
  parse(description, "robot_description", described);
  for (const auto & [name, link] : built.links_) {
    const auto other = described.getLink(name);
    const auto found = other ? difference("link " + name, numbers(*link), numbers(*other)) :
      "it has no link " + name;
    if (!found.empty()) {
      return found;
    }
  }
  for (const auto & [name, joint] : built.joints_) {
    const auto other = described.getJoint(name);
    if (!other || other->parent_link_name != joint->parent_link_name ||
      other->child_link_name != joint->child_link_name)
    {
      return "it has no joint " + name + " from " + joint->parent_link_name + " to " +
             joint->child_link_name;
    }
    const auto found = difference("joint " + name, numbers(*joint), numbers(*other));
    if (!found.empty()) {
      return found;
    }
  }
  return "";
}

}  // namespace kane_dynamics
