// SPDX-License-Identifier: Apache-2.0
// A stub with the signatures of ros2_control 4.46 that generated controllers use.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace hardware_interface
{
struct InterfaceInfo
{
  std::string name;
  std::string min = "";
  std::string max = "";
  std::string initial_value = "";
  std::string data_type = "double";
  int size;
  std::unordered_map<std::string, std::string> parameters;
  bool enable_limits;
};

struct InterfaceDescription
{
  InterfaceDescription(const std::string & prefix, const InterfaceInfo & info)
  : prefix_name(prefix), interface_info(info), interface_name(prefix + "/" + info.name)
  {
  }
  std::string prefix_name;
  InterfaceInfo interface_info;
  std::string interface_name;
};

class Handle
{
public:
  explicit Handle(const InterfaceDescription & description)
  : name_(description.interface_name)
  {
  }
  const std::string & get_name() const {return name_;}
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional() const
  {
    return busy ? std::nullopt : std::optional<T>(value);
  }
  template <typename T>
  [[nodiscard]] bool set_value(const T & given)
  {
    value = given;
    return true;
  }
  double value = 0.0;
  bool busy = false;  // of the stub alone: as while another thread writes

private:
  std::string name_;
};

class CommandInterface : public Handle
{
public:
  explicit CommandInterface(const InterfaceDescription & description)
  : Handle(description)
  {
  }
  CommandInterface(const CommandInterface & other) = delete;
  CommandInterface(CommandInterface && other) = default;
  using SharedPtr = std::shared_ptr<CommandInterface>;
};

class LoanedCommandInterface
{
public:
  explicit LoanedCommandInterface(CommandInterface::SharedPtr handle)
  : handle_(handle)
  {
  }
  template <typename T>
  [[nodiscard]] bool set_value(const T & value, unsigned int = 10)
  {
    return handle_->set_value(value);
  }

private:
  CommandInterface::SharedPtr handle_;
};

class LoanedStateInterface
{
public:
  explicit LoanedStateInterface(std::shared_ptr<Handle> handle)
  : handle_(handle)
  {
  }
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const
  {
    return handle_->get_optional<T>();
  }

private:
  std::shared_ptr<Handle> handle_;
};
}  // namespace hardware_interface
