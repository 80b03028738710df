// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__MOMENTUM_OBSERVER_HPP_
#define KANE_DYNAMICS_CPP__MOMENTUM_OBSERVER_HPP_

#include <cmath>

#include "kane_dynamics_cpp/robot_library.hpp"

namespace kane_dynamics
{

/// External efforts at the motors, without accelerations: r' = K (tau_ext - r).
/**
 * De Luca and Mattone (2003). Between two samples the momentum observer gains M dv / h + C v + g +
 * friction - tau at the middle, which is the inverse dynamics of the mean state with the
 * acceleration dv / h, less the mean effort.
 */
class MomentumObserver
{
public:
  explicit MomentumObserver(const RobotLibrary & library)
  : library_(library), result_(library.make_motor_efforts())
  {
    reset();
  }

  /// Begin anew with the next sample.
  void reset()
  {
    first_ = true;
    residual_ = Eigen::VectorXd::Zero(library_.nv());
  }

  /// Take a sample after `period` [s] under the efforts tau since the last; gain K [1/s].
  bool update(
    const Eigen::VectorXd & q, const Eigen::VectorXd & v, const Eigen::VectorXd & tau,
    const Eigen::VectorXd & parameters, double period, double gain)
  {
    const bool first = first_;
    if (first) {
      first_ = false;
      q_ = q, v_ = v;
    }
    q_ = 0.5 * (q_ + q), a_ = (v - v_) / period, v_ = 0.5 * (v_ + v);
    const bool sure = first || library_.motor_efforts(q_, v_, a_, parameters, result_);
    q_ = q, v_ = v;
    if (sure && !first) {
      residual_ -= std::expm1(-gain * period) * (result_.effort - tau - residual_);
    }
    return sure;
  }

  /// r, in the order of v [N m or N]; of speeds without a motor it means nothing.
  const Eigen::VectorXd & residual() const {return residual_;}

private:
  const RobotLibrary & library_;
  MotorEfforts result_;
  bool first_{true};
  Eigen::VectorXd q_, v_, a_, residual_;
};

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__MOMENTUM_OBSERVER_HPP_
