// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__VALIDATORS_HPP_
#define KANE_DYNAMICS_CPP__VALIDATORS_HPP_

#include <fmt/core.h>

#include <Eigen/Eigenvalues>
#include <rclcpp/parameter.hpp>
#include <rsl/parameter_validators.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace kane_dynamics
{

/// Refuse numbers that are not within bounds, NaN as well.
template<typename T>
tl::expected<void, std::string> each_within(
  const rclcpp::Parameter & parameter, const T & lower, const T & upper)
{
  for (const T x : parameter.get_value<std::vector<T>>()) {
    if (!(x >= lower && x <= upper)) {
      return tl::make_unexpected(
        fmt::format("{}: need {} to {}, got {}", parameter.get_name(), lower, upper, x));
    }
  }
  return {};
}

/// Refuse a number that is not within bounds, NaN as well.
template<typename T>
tl::expected<void, std::string> within(
  const rclcpp::Parameter & parameter, const T & lower, const T & upper)
{
  const rclcpp::Parameter list(parameter.get_name(), std::vector<T>{parameter.get_value<T>()});
  return each_within<T>(list, lower, upper);
}

/// Return whether xx, xy, xz, yy, yz, zz are the inertia of a body: no moment above the other two.
inline bool is_inertia(const Eigen::Matrix<double, 6, 1> & x)
{
  Eigen::Matrix3d inertia;
  inertia << x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5];
  const Eigen::Vector3d moments = inertia.selfadjointView<Eigen::Lower>().eigenvalues();
  const double roundoff = 1e-9 * moments.cwiseAbs().maxCoeff();
  return x.allFinite() && moments[0] >= -roundoff &&
         moments[2] <= moments[0] + moments[1] + roundoff;
}

/// Refuse six numbers that are the inertia of no body.
inline tl::expected<void, std::string> inertia(const rclcpp::Parameter & parameter)
{
  const auto numbers = parameter.as_double_array();
  if (numbers.size() != 6 || !is_inertia(Eigen::Map<const Eigen::Matrix<double, 6, 1>>(numbers.data()))) {
    return tl::make_unexpected(
      parameter.get_name() + ": need xx, xy, xz, yy, yz, zz of a body: no principal moment is "
      "negative or above the sum of the others");
  }
  return {};
}

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__VALIDATORS_HPP_
