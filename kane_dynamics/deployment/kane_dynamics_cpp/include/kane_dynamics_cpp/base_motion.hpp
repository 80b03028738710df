// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__BASE_MOTION_HPP_
#define KANE_DYNAMICS_CPP__BASE_MOTION_HPP_

#include <Eigen/Core>

#include <cmath>

namespace kane_dynamics
{

/// Motion of a planar base that follows a twist with a lag of first order: T v' = twist - v.
/** Twists are x, y [m/s] and yaw [rad/s] in the axes of the base. */
class BaseMotion
{
public:
  void reset() {twist_.setZero(), rate_.setZero();}

  /// Follow a twist for `period` [s] with the lag `response_time` [s].
  void update(const Eigen::Vector3d & twist, double period, double response_time)
  {
    twist_ -= std::expm1(-period / response_time) * (twist - twist_);
    rate_ = (twist - twist_) / response_time;
  }

  /// Velocity of base_x, base_y, base_yaw where the yaw is zero.
  const Eigen::Vector3d & velocity() const {return twist_;}
  /// Their acceleration: the axes of the base turn, those of base_x and base_y do not.
  Eigen::Vector3d acceleration() const
  {
    const double yaw_rate = twist_[2];
    return {rate_[0] - yaw_rate * twist_[1], rate_[1] + yaw_rate * twist_[0], rate_[2]};
  }

private:
  Eigen::Vector3d twist_{Eigen::Vector3d::Zero()}, rate_{Eigen::Vector3d::Zero()};
};

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__BASE_MOTION_HPP_
