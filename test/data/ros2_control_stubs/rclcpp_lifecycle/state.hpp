// SPDX-License-Identifier: Apache-2.0
// A stub with the signatures of rclcpp_lifecycle that generated controllers use.
#pragma once
namespace rclcpp_lifecycle
{
class State
{
};
namespace node_interfaces
{
class LifecycleNodeInterface
{
public:
  enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
  virtual ~LifecycleNodeInterface() = default;
  virtual CallbackReturn on_configure(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_activate(const State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_deactivate(const State &) {return CallbackReturn::SUCCESS;}
};
}  // namespace node_interfaces
}  // namespace rclcpp_lifecycle
