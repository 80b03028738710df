// SPDX-License-Identifier: Apache-2.0
// Drives a generated controller as a controller manager does; prints what it commands.
// Input: one case a line: 'c' (chained) or 'u', states, references; 'd' deactivates; 'b' c ... with
// all references busy. Output: status, number of allocations in update, commands.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>

#include "mobile_arm_dynamics/effort_controller.hpp"

static long allocations = 0;
extern "C" void * __libc_malloc(std::size_t);
extern "C" void * malloc(std::size_t size)
{
  ++allocations;
  return __libc_malloc(size);
}

static double number()
{
  std::string text;
  std::cin >> text;
  return std::strtod(text.c_str(), nullptr);
}

int main()
{
  using hardware_interface::CommandInterface;
  using hardware_interface::InterfaceDescription;
  mobile_arm_dynamics::EffortController controller;
  if (controller.on_init() != controller_interface::CallbackReturn::SUCCESS) {return 1;}
  const auto commands = controller.command_interface_configuration().names;
  const auto states = controller.state_interface_configuration().names;
  const auto references = controller.export_reference_interfaces();
  for (const auto & name : commands) {std::cout << name << ' ';}
  std::cout << '\n';
  for (const auto & name : states) {std::cout << name << ' ';}
  std::cout << '\n';
  for (const auto & reference : references) {std::cout << reference->get_name() << ' ';}
  std::cout << '\n';

  std::vector<CommandInterface::SharedPtr> command_handles, state_handles;
  std::vector<hardware_interface::LoanedCommandInterface> lent_commands;
  std::vector<hardware_interface::LoanedStateInterface> lent_states;
  hardware_interface::InterfaceInfo info{};
  for (const auto & name : commands) {
    const InterfaceDescription description(name, info);
    command_handles.push_back(std::make_shared<CommandInterface>(description));
    lent_commands.emplace_back(command_handles.back());
  }
  for (const auto & name : states) {
    const InterfaceDescription description(name, info);
    state_handles.push_back(std::make_shared<CommandInterface>(description));
    lent_states.emplace_back(state_handles.back());
  }
  controller.assign_interfaces(std::move(lent_commands), std::move(lent_states));
  const rclcpp_lifecycle::State state;
  controller.get_node()->parameters["gravity"] = std::vector<double>{0.0, 0.0, std::nan("")};
  if (controller.on_configure(state) == controller_interface::CallbackReturn::SUCCESS) {return 2;}
  controller.get_node()->parameters["gravity"] = std::vector<double>{0.0, 0.0, -9.81};
  if (controller.on_configure(state) != controller_interface::CallbackReturn::SUCCESS) {return 3;}
  if (controller.on_activate(state) != controller_interface::CallbackReturn::SUCCESS) {return 4;}

  std::cout.precision(17);
  char way;
  while (std::cin >> way) {
    controller.chained = way != 'u';
    int status = 0;
    long before = 0, after = 0;
    if (way == 'd') {
      status = static_cast<int>(controller.on_deactivate(state));
    } else {
      for (auto & handle : state_handles) {handle->value = number();}
      for (auto & handle : references) {
        handle->value = number();
        handle->busy = way == 'b';
      }
      before = allocations;
      status = static_cast<int>(controller.update(rclcpp::Time(), rclcpp::Duration()));
      after = allocations;
    }
    std::cout << status << ' ' << after - before;
    for (const auto & handle : command_handles) {std::cout << ' ' << handle->value;}
    std::cout << '\n';
  }
  return allocations > 0 ? 0 : 5;  // else they were not counted
}
