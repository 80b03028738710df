// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__SOLVER_HPP_
#define KANE_DYNAMICS_CPP__SOLVER_HPP_

#include <memory>
#include <string>

#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>

#include "kane_dynamics_cpp/robot_library.hpp"

namespace kane_dynamics
{

/// Terms of the equation of motion, of the library that the parameter robot_library names.
/**
 * Vectors are in the order of v of the library. std::invalid_argument for vectors of another
 * length, std::runtime_error where the library has no certain answer.
 */
class Solver : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
  void initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters_interface = nullptr,
    const std::string & param_namespace = "", const std::string & robot_description = "") override;
  Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd & joint_positions) const override;
  Eigen::VectorXd getCoriolisVector(
    const Eigen::VectorXd & joint_positions,
    const Eigen::VectorXd & joint_velocities) const override;
  Eigen::VectorXd getGravityVector(const Eigen::VectorXd & joint_positions) const override;
  Eigen::VectorXd getFrictionVector(const Eigen::VectorXd & joint_velocities) const override;

private:
  std::unique_ptr<RobotLibrary> library_;
  Eigen::VectorXd parameters_;
};

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__SOLVER_HPP_
