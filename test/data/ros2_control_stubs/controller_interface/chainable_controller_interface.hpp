// SPDX-License-Identifier: Apache-2.0
// A stub with the signatures of ros2_control 4.46 that generated controllers use.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hardware_interface/handle.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace controller_interface
{
using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class interface_configuration_type : std::uint8_t { ALL = 0, INDIVIDUAL = 1, NONE = 2 };
struct InterfaceConfiguration
{
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
};

class ControllerInterfaceBase : public rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface
{
public:
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() {return node_;}
  std::shared_ptr<const rclcpp_lifecycle::LifecycleNode> get_node() const {return node_;}
  template <typename T>
  auto auto_declare(const std::string & name, const T & value)
  {
    node_->parameters.emplace(name, value);
    return value;
  }
  void assign_interfaces(
    std::vector<hardware_interface::LoanedCommandInterface> && commands,
    std::vector<hardware_interface::LoanedStateInterface> && states)
  {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

protected:
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ =
    std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

class ChainableControllerInterface : public ControllerInterfaceBase
{
public:
  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) final
  {
    if (!chained) {
      const auto result = update_reference_from_subscribers(time, period);
      if (result != return_type::OK) {
        return result;
      }
    }
    return update_and_write_commands(time, period);
  }
  std::vector<hardware_interface::CommandInterface::SharedPtr> export_reference_interfaces()
  {
    ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
    return ordered_exported_reference_interfaces_;
  }
  bool chained = true;  // of the stub alone

protected:
  virtual std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list()
  {
    return {};
  }
  virtual return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  virtual return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::vector<hardware_interface::CommandInterface::SharedPtr>
    ordered_exported_reference_interfaces_;
};
}  // namespace controller_interface
