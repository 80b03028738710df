// SPDX-License-Identifier: Apache-2.0
#include "kane_dynamics_cpp/robot_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace kane_dynamics
{
namespace
{

constexpr int PAYLOAD_SIZE = 10;  // mass, com, inertia

std::vector<std::string> listed(const char * const * names)
{
  std::vector<std::string> list;
  for (; *names != nullptr; ++names) {
    list.emplace_back(*names);
  }
  return list;
}

std::shared_ptr<void> opened(const std::string & path)
{
  void * handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw std::runtime_error(std::string("robot library: ") + dlerror());
  }
  return {handle, dlclose};
}

const kane_dynamics_robot * described(const std::shared_ptr<void> & handle, const std::string & path)
{
  using Describe = const kane_dynamics_robot * ();
  auto * describe = reinterpret_cast<Describe *>(dlsym(handle.get(), "kane_dynamics_describe"));
  if (describe == nullptr) {
    throw std::runtime_error(
            path + " is no library of this version of `kane-dynamics build`: it has no symbol "
            "kane_dynamics_describe");
  }
  const auto * robot = describe();
  if (robot->abi != KANE_DYNAMICS_ROBOT_ABI) {
    throw std::runtime_error(
            path + ": need interface " + std::to_string(KANE_DYNAMICS_ROBOT_ABI) + ", the library "
            "has " + std::to_string(robot->abi) + " (kane_dynamics " + robot->version +
            "): build the robot or this package again");
  }
  if (robot->check() != 0) {
    throw std::runtime_error(
            path + ": the machine code is for other processors; build it here, or with another --cpu");
  }
  if (robot->nq != robot->nv) {
    throw std::runtime_error(
            path + ": a joint has more than one degree of freedom, which ros2_control does not know");
  }
  return robot;
}

template<typename Vector>
void fill_nan(Vector & x)
{
  x.setConstant(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

template<typename Function>
Function * RobotLibrary::find(const char * name, int inputs, int outputs) const
{
  const auto * one = robot_->functions;
  while (one->name != nullptr && std::strcmp(one->name, name) != 0) {
    ++one;
  }
  if (one->name == nullptr || one->inputs != inputs || one->outputs != outputs) {
    return nullptr;
  }
  return reinterpret_cast<Function *>(one->call);
}

RobotLibrary::RobotLibrary(const std::string & path)
: handle_(opened(path)),
  robot_(described(handle_, path)),
  velocity_names_(listed(robot_->velocity_names)),
  reference_names_(listed(robot_->reference_names)),
  state_names_(listed(robot_->state_names)),
  motor_names_(listed(robot_->motor_names)),
  payload_frames_(listed(robot_->payload_frames)),
  mass_matrix_(find<OneInput>("mass_matrix", 1, 1)),
  gravity_force_(find<OneInput>("gravity_force", 1, 1)),
  friction_force_(find<OneInput>("friction_force", 1, 1)),
  bias_force_(find<TwoInputs>("bias_force", 2, 1)),
  load_(find<TwoInputs>("load", 2, 1)),
  inverse_dynamics_(find<ThreeInputs>("inverse_dynamics", 3, 1)),
  motor_efforts_(robot_->rows_bind_motors ? find<Constrained>("motor_efforts", 4, 5) : nullptr)
{
  if (robot_->rows_bind_motors ? motor_efforts_ == nullptr : inverse_dynamics_ == nullptr) {
    const char * needed = robot_->rows_bind_motors ? "motor_efforts" : "inverse_dynamics";
    throw std::runtime_error(path + " has no function " + needed);
  }
}

Eigen::Index RobotLibrary::velocity_index(const std::string & name) const
{
  const auto place = std::find(velocity_names_.begin(), velocity_names_.end(), name);
  if (place == velocity_names_.end()) {
    std::string message = "no velocity named '" + name + "'; there are";
    for (const auto & other : velocity_names_) {
      message += " " + other;
    }
    throw std::runtime_error(message);
  }
  return place - velocity_names_.begin();
}

std::vector<Eigen::Index> RobotLibrary::velocity_indices(
  const std::vector<std::string> & names) const
{
  std::vector<Eigen::Index> places;
  for (const auto & name : names) {
    places.push_back(velocity_index(name));
  }
  return places;
}

Eigen::VectorXd RobotLibrary::default_parameters() const
{
  return Eigen::Map<const Eigen::VectorXd>(robot_->default_parameters, robot_->parameters);
}

bool RobotLibrary::load(
  const Eigen::Vector3d & gravity, const std::vector<Payload> & payloads,
  Vector & parameters) const
{
  if (payloads.size() != payload_frames_.size() || parameters.size() != robot_->parameters) {
    return false;
  }
  if (payloads.empty()) {
    parameters.head<3>() = gravity;
    return gravity.allFinite();
  }
  Eigen::VectorXd numbers(PAYLOAD_SIZE * payloads.size());
  for (std::size_t k = 0; k < payloads.size(); ++k) {
    numbers.segment<PAYLOAD_SIZE>(PAYLOAD_SIZE * k) << payloads[k].mass, payloads[k].com,
      payloads[k].inertia;
  }
  return load_ != nullptr &&
         load_(gravity.data(), numbers.data(), nullptr, parameters.data()) == 0;
}

MotorEfforts RobotLibrary::make_motor_efforts() const
{
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(nv());
  return {zero, Eigen::VectorXd::Zero(robot_->rows), zero, zero, Eigen::Vector3d::Zero()};
}

bool RobotLibrary::motor_efforts(
  const Vector & q, const Vector & v, const Vector & a, const Vector & parameters,
  MotorEfforts & result) const
{
  if (motor_efforts_ == nullptr) {
    return call(inverse_dynamics_, parameters, result.effort, q, v, a);
  }
  const bool sizes = q.size() == nv() && v.size() == nv() && a.size() == nv() &&
    parameters.size() == robot_->parameters && result.effort.size() == nv() &&
    result.multipliers.size() == robot_->rows && result.velocity.size() == nv() &&
    result.acceleration.size() == nv();
  if (!sizes) {
    fill_nan(result.effort);
    return false;
  }
  const double time = 0.0;  // rows of a base do not depend on it
  return motor_efforts_(
    q.data(), v.data(), a.data(), &time, parameters.data(), result.effort.data(),
    result.multipliers.data(), result.velocity.data(), result.acceleration.data(),
    result.quality.data()) == 0;
}

template<typename Function, typename Result, typename... Inputs>
bool RobotLibrary::call(
  Function * function, const Eigen::VectorXd & parameters, Result & result,
  const Inputs &... inputs) const
{
  const bool sizes = ((inputs.size() == nv()) && ...) &&
    parameters.size() == robot_->parameters && result.rows() == nv() &&
    (result.cols() == 1 || result.cols() == nv());
  if (!sizes || function == nullptr) {
    fill_nan(result);
    return false;
  }
  return function(inputs.data()..., parameters.data(), result.data()) == 0;
}

bool RobotLibrary::mass_matrix(const Vector & q, const Vector & parameters, Eigen::MatrixXd & M) const
{
  return M.cols() == nv() && call(mass_matrix_, parameters, M, q);  // symmetric: any order
}

bool RobotLibrary::bias_force(
  const Vector & q, const Vector & v, const Vector & parameters, Vector & bias) const
{
  return call(bias_force_, parameters, bias, q, v);
}

bool RobotLibrary::gravity_force(const Vector & q, const Vector & parameters, Vector & gravity) const
{
  return call(gravity_force_, parameters, gravity, q);
}

bool RobotLibrary::friction_force(
  const Vector & v, const Vector & parameters, Vector & friction) const
{
  return call(friction_force_, parameters, friction, v);
}

}  // namespace kane_dynamics
