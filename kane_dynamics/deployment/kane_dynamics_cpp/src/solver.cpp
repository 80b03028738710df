// SPDX-License-Identifier: Apache-2.0
#include "kane_dynamics_cpp/solver.hpp"

#include <stdexcept>

#include <pluginlib/class_list_macros.hpp>

#include "kane_dynamics_cpp/description_difference.hpp"
#include "kane_dynamics_cpp/library_path.hpp"

namespace kane_dynamics
{
namespace
{

void need_length(const Eigen::VectorXd & x, Eigen::Index length, const char * name)
{
  if (x.size() != length) {
    throw std::invalid_argument(
            std::string(name) + ": need " + std::to_string(length) + " numbers, got " +
            std::to_string(x.size()));
  }
}

void need_answer(bool answered, const char * name)
{
  if (!answered) {
    throw std::runtime_error(std::string(name) + ": the library has no such function or no answer");
  }
}

}  // namespace

void Solver::initialize(
  rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters,
  const std::string & space, const std::string & robot_description)
{
  const auto name = (space.empty() ? "" : space + ".") + "robot_library";
  if (!parameters || !parameters->has_parameter(name)) {
    throw std::invalid_argument("need the parameter " + name + ", a library of kane-dynamics build");
  }
  library_ = std::make_unique<RobotLibrary>(
    library_path(parameters->get_parameter(name).as_string()));
  const auto difference = robot_description.empty() ? "" :
    description_difference(library_->robot().urdf, robot_description);
  if (!difference.empty()) {
    throw std::runtime_error("the library was built from another robot: " + difference);
  }
  parameters_ = library_->default_parameters();
}

Eigen::MatrixXd Solver::getInertiaMatrix(const Eigen::VectorXd & joint_positions) const
{
  need_length(joint_positions, library_->nv(), "joint_positions");
  Eigen::MatrixXd M(library_->nv(), library_->nv());
  need_answer(library_->mass_matrix(joint_positions, parameters_, M), "mass_matrix");
  return M;
}

Eigen::VectorXd Solver::getCoriolisVector(
  const Eigen::VectorXd & joint_positions, const Eigen::VectorXd & joint_velocities) const
{
  need_length(joint_velocities, library_->nv(), "joint_velocities");
  const Eigen::VectorXd gravity = getGravityVector(joint_positions);
  Eigen::VectorXd bias(library_->nv());
  need_answer(
    library_->bias_force(joint_positions, joint_velocities, parameters_, bias), "bias_force");
  return bias - gravity;
}

Eigen::VectorXd Solver::getGravityVector(const Eigen::VectorXd & joint_positions) const
{
  need_length(joint_positions, library_->nv(), "joint_positions");
  Eigen::VectorXd gravity(library_->nv());
  need_answer(library_->gravity_force(joint_positions, parameters_, gravity), "gravity_force");
  return gravity;
}

Eigen::VectorXd Solver::getFrictionVector(const Eigen::VectorXd & joint_velocities) const
{
  need_length(joint_velocities, library_->nv(), "joint_velocities");
  Eigen::VectorXd friction(library_->nv());
  need_answer(library_->friction_force(joint_velocities, parameters_, friction), "friction_force");
  return friction;
}

}  // namespace kane_dynamics

PLUGINLIB_EXPORT_CLASS(kane_dynamics::Solver, inverse_dynamics_solver::InverseDynamicsSolver)
