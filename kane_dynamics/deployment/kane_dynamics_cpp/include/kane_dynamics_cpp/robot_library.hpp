// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__ROBOT_LIBRARY_HPP_
#define KANE_DYNAMICS_CPP__ROBOT_LIBRARY_HPP_

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

#include "kane_dynamics_cpp/kane_dynamics_robot.h"

namespace kane_dynamics
{

/// Mass, centre of mass [m] and inertia about it [kg m^2] in the axes of a link.
struct Payload
{
  double mass{0.0};
  Eigen::Vector3d com{Eigen::Vector3d::Zero()};
  Eigen::Matrix<double, 6, 1> inertia{Eigen::Matrix<double, 6, 1>::Zero()};  // xx xy xz yy yz zz
};

/// The efforts of a motion and what follows from it; of robots without rows, efforts alone.
struct MotorEfforts
{
  Eigen::VectorXd effort, multipliers, velocity, acceleration;
  Eigen::Vector3d quality{Eigen::Vector3d::Zero()};  // rank, unbalanced force, norm of A v - b0
};

/// A library of `kane-dynamics build`, loaded.
/**
 * SI units; vectors in the order of `velocity_names()`. Functions return false, with NaN in their
 * results, where an input is not finite, has another size, or the library has no certain answer.
 * They are const, take no lock and no memory: any number of threads may call at once.
 */
class RobotLibrary
{
public:
  using Vector = Eigen::VectorXd;

  /// Load a library; std::runtime_error says what is wrong with the file, build or processor.
  explicit RobotLibrary(const std::string & path);

  const kane_dynamics_robot & robot() const {return *robot_;}
  int nv() const {return robot_->nv;}
  const std::vector<std::string> & velocity_names() const {return velocity_names_;}
  /// Speeds whose motion `motor_efforts` takes; those of a base may follow from its wheels.
  const std::vector<std::string> & reference_names() const {return reference_names_;}
  /// Joints whose positions the dynamics depends on.
  const std::vector<std::string> & state_names() const {return state_names_;}
  const std::vector<std::string> & motor_names() const {return motor_names_;}
  const std::vector<std::string> & payload_frames() const {return payload_frames_;}
  /// The place of a name in `velocity_names()`; std::runtime_error lists these.
  Eigen::Index velocity_index(const std::string & name) const;
  std::vector<Eigen::Index> velocity_indices(const std::vector<std::string> & names) const;

  /// Parameters under the gravity [m/s^2] and payloads of the build.
  Vector default_parameters() const;
  /// Set `parameters` to a gravity and a payload for each of `payload_frames()`.
  bool load(
    const Eigen::Vector3d & gravity, const std::vector<Payload> & payloads,
    Vector & parameters) const;

  MotorEfforts make_motor_efforts() const;
  /// Efforts of the motors that produce q, v, a: M a + C v + g + friction = tau + A' lambda.
  /**
   * Where constraint rows do not bind the motors (`robot().rows_bind_motors`) only their efforts
   * are set: the arm of a base that takes a velocity.
   */
  bool motor_efforts(
    const Vector & q, const Vector & v, const Vector & a, const Vector & parameters,
    MotorEfforts & result) const;
  bool mass_matrix(const Vector & q, const Vector & parameters, Eigen::MatrixXd & M) const;
  bool bias_force(
    const Vector & q, const Vector & v, const Vector & parameters, Vector & bias) const;
  bool gravity_force(const Vector & q, const Vector & parameters, Vector & gravity) const;
  bool friction_force(const Vector & v, const Vector & parameters, Vector & friction) const;

private:
  template<typename Function>
  Function * find(const char * name, int inputs, int outputs) const;
  template<typename Function, typename Result, typename... Inputs>
  bool call(
    Function * function, const Vector & parameters, Result & result,
    const Inputs &... inputs) const;

  std::shared_ptr<void> handle_;
  const kane_dynamics_robot * robot_;
  std::vector<std::string> velocity_names_, reference_names_, state_names_, motor_names_,
  payload_frames_;
  using OneInput = int (const double *, const double *, double *);
  using TwoInputs = int (const double *, const double *, const double *, double *);
  using ThreeInputs = int (
    const double *, const double *, const double *, const double *, double *);
  using Constrained = int (
    const double *, const double *, const double *, const double *, const double *, double *,
    double *, double *, double *, double *);
  OneInput * mass_matrix_, * gravity_force_, * friction_force_;
  TwoInputs * bias_force_, * load_;
  ThreeInputs * inverse_dynamics_;
  Constrained * motor_efforts_;
};

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__ROBOT_LIBRARY_HPP_
