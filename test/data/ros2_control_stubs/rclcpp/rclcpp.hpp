// SPDX-License-Identifier: Apache-2.0
// A stub with the signatures of rclcpp that generated controllers use.
#pragma once
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define RCLCPP_ERROR(logger, ...) \
  do { \
    (void)(logger); \
    std::fprintf(stderr, __VA_ARGS__); \
  } while (0)

namespace rclcpp
{
class Time
{
};
class Duration
{
};
class Logger
{
};
class Parameter
{
public:
  Parameter(const std::vector<double> & value = {})
  : value_(value)
  {
  }
  std::vector<double> as_double_array() const {return value_;}

private:
  std::vector<double> value_;
};
namespace node_interfaces
{
class NodeParametersInterface
{
public:
  using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
};
}  // namespace node_interfaces
}  // namespace rclcpp
namespace rclcpp_lifecycle
{
class LifecycleNode
{
public:
  const char * get_name() const {return "effort_controller";}
  rclcpp::Logger get_logger() const {return {};}
  rclcpp::Parameter get_parameter(const std::string & name) const {return parameters.at(name);}
  std::map<std::string, rclcpp::Parameter> parameters;
};
}  // namespace rclcpp_lifecycle
