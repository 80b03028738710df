// SPDX-License-Identifier: Apache-2.0
// Drives kane_dynamics/EffortController as a controller manager does: harness URDF PARAMETERS.
// Each line of the input is a command, each answer a line:
//   names                      commands | states | references | exported states
//   activate, deactivate       return code
//   chained 0|1                return code
//   states X..., references X...   (as listed; the values stay)
//   set NAME X..., text NAME VALUE, none NAME    'ok' or the reason of the refusal
//   payload FRAME X..., gravity X..., twist X... publish on the topic and wait until it was taken
//   update SECONDS             return code, allocations, commands, exported states
//   time COUNT SECONDS         percentiles 50, 99, 100 of an update [us]
//   robot URDF PARAMETERS      another controller in this process, to which commands go now
//   select K                   commands go to the K-th one
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "kane_dynamics_cpp/effort_controller.hpp"

static thread_local long allocations = 0;
extern "C" void * __libc_malloc(std::size_t);
extern "C" void * malloc(std::size_t size)
{
  ++allocations;
  return __libc_malloc(size);
}

namespace
{

using hardware_interface::CommandInterface;
using hardware_interface::StateInterface;

std::vector<double> numbers(std::istream & line)
{
  std::vector<double> list;
  for (std::string text; line >> text; ) {
    list.push_back(std::strtod(text.c_str(), nullptr));
  }
  return list;
}

template<typename Handle>
std::shared_ptr<Handle> handle(const std::string & name)
{
  const auto slash = name.rfind('/');
  hardware_interface::InterfaceInfo info{};
  info.name = name.substr(slash + 1);
  info.data_type = "double";
  return std::make_shared<Handle>(
    hardware_interface::InterfaceDescription(name.substr(0, slash), info));
}

class Harness
{
public:
  Harness(const std::string & urdf, const std::string & parameters)
  {
    controller_interface::ControllerInterfaceParams params;
    params.controller_name = "effort_controller";
    std::ifstream file(urdf);
    params.robot_description.assign(std::istreambuf_iterator<char>(file), {});
    params.update_rate = params.controller_manager_update_rate = 1000;
    params.node_options = rclcpp::NodeOptions().arguments({"--ros-args", "--params-file", parameters});
    if (controller_.init(params) != controller_interface::return_type::OK) {std::exit(2);}
    if (controller_.configure().label() != "inactive") {std::exit(3);}
    references_ = controller_.export_reference_interfaces();
    exported_ = controller_.export_state_interfaces();
    std::vector<hardware_interface::LoanedCommandInterface> commands;
    std::vector<hardware_interface::LoanedStateInterface> states;
    for (const auto & name : controller_.command_interface_configuration().names) {
      commands_.push_back(handle<CommandInterface>(name));
      commands.emplace_back(commands_.back(), nullptr);
    }
    for (const auto & name : controller_.state_interface_configuration().names) {
      states_.push_back(handle<StateInterface>(name));
      states.emplace_back(states_.back());
    }
    controller_.assign_interfaces(std::move(commands), std::move(states));
    node_ = std::make_shared<rclcpp::Node>("harness");
    executor_.add_node(controller_.get_node()->get_node_base_interface());
    payload_ = node_->create_publisher<geometry_msgs::msg::InertiaStamped>(topic("payload"), 1);
    gravity_ = node_->create_publisher<geometry_msgs::msg::Vector3Stamped>(topic("gravity"), 1);
    twist_ = node_->create_publisher<geometry_msgs::msg::TwistStamped>(topic("base_twist"), 1);
  }

  std::string run(const std::string & name, std::istream & line)
  {
    std::ostringstream out;
    out.precision(17);
    if (name == "names") {
      list(out, commands_), list(out << "| ", states_), list(out << "| ", references_);
      list(out << "| ", exported_);
    } else if (name == "activate") {
      out << (controller_.get_node()->activate().label() == "active");
    } else if (name == "deactivate") {
      out << (controller_.get_node()->deactivate().label() == "inactive");
      write(out);
    } else if (name == "chained") {
      out << controller_.set_chained_mode(numbers(line).at(0) != 0.0);
    } else if (name == "states") {
      assign(numbers(line), states_);
    } else if (name == "references") {
      assign(numbers(line), references_);
    } else if (name == "set" || name == "text" || name == "none") {
      out << set(name, line);
    } else if (name == "payload" || name == "gravity" || name == "twist") {
      publish(name, line);
    } else if (name == "update") {
      const auto period = numbers(line).at(0);
      const long before = allocations;
      const auto code = update(period);
      const long after = allocations;
      out << static_cast<int>(code) << ' ' << after - before;
      write(out);
    } else if (name == "time") {
      const auto x = numbers(line);
      time(out, static_cast<std::size_t>(x.at(0)), x.at(1));
    } else {
      out << "unknown command " << name;
    }
    return out.str();
  }

private:
  std::string topic(const char * name) {return std::string("/effort_controller/") + name;}

  template<typename Handles>
  static void list(std::ostream & out, const Handles & handles)
  {
    for (const auto & one : handles) {out << one->get_name() << ' ';}
  }

  template<typename Handles>
  static void assign(const std::vector<double> & values, const Handles & handles)
  {
    for (std::size_t k = 0; k < handles.size(); ++k) {
      std::ignore = handles[k]->set_value(values.at(k));
    }
  }

  void write(std::ostream & out)
  {
    for (const auto & one : commands_) {out << ' ' << one->get_optional().value();}
    for (const auto & one : exported_) {out << ' ' << one->get_optional().value();}
  }

  std::string set(const std::string & kind, std::istream & line)
  {
    std::string name, text;
    line >> name;
    rclcpp::ParameterValue value;
    if (kind == "text") {
      line >> text;
      value = rclcpp::ParameterValue(text);
    } else if (kind == "set") {
      const auto x = numbers(line);
      value = x.size() == 1 ? rclcpp::ParameterValue(x[0]) : rclcpp::ParameterValue(x);
    }
    try {
      const auto result = controller_.get_node()->set_parameter(rclcpp::Parameter(name, value));
      return result.successful ? "ok" : "refused: " + result.reason;
    } catch (const std::exception & error) {
      return std::string("refused: ") + error.what();
    }
  }

  void publish(const std::string & name, std::istream & line)
  {
    geometry_msgs::msg::InertiaStamped load;
    if (name == "payload") {line >> load.header.frame_id;}
    auto x = numbers(line);
    x.resize(10);
    auto & i = load.inertia;
    i.m = x[0], i.com.x = x[1], i.com.y = x[2], i.com.z = x[3];
    i.ixx = x[4], i.ixy = x[5], i.ixz = x[6], i.iyy = x[7], i.iyz = x[8], i.izz = x[9];
    geometry_msgs::msg::Vector3Stamped vector;
    vector.vector.x = x[0], vector.vector.y = x[1], vector.vector.z = x[2];
    geometry_msgs::msg::TwistStamped twist;
    twist.twist.linear.x = x[0], twist.twist.linear.y = x[1], twist.twist.angular.z = x[2];
    const auto wait = [this](auto & publisher) {
        while (publisher->get_subscription_count() == 0) {executor_.spin_some();}
      };
    if (name == "payload") {
      wait(payload_), payload_->publish(load);
    } else if (name == "gravity") {
      wait(gravity_), gravity_->publish(vector);
    } else {
      wait(twist_), twist_->publish(twist);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) {
      executor_.spin_once(std::chrono::milliseconds(10));
    }
  }

  controller_interface::return_type update(double period)
  {
    return controller_.update(controller_.get_node()->now(), rclcpp::Duration::from_seconds(period));
  }

  void time(std::ostream & out, std::size_t count, double period)
  {
    using clock = std::chrono::steady_clock;
    std::vector<double> times(count);
    auto next = clock::now();
    for (auto & one : times) {
      next += std::chrono::nanoseconds(static_cast<long>(period * 1e9));
      while (clock::now() < next) {}
      const auto start = clock::now();
      update(period);
      one = std::chrono::duration<double, std::micro>(clock::now() - start).count();
    }
    std::sort(times.begin(), times.end());
    out << times[count / 2] << ' ' << times[count * 99 / 100] << ' ' << times.back();
  }

  kane_dynamics::EffortController controller_;
  std::vector<CommandInterface::SharedPtr> commands_, references_;
  std::vector<StateInterface::SharedPtr> states_;
  std::vector<StateInterface::ConstSharedPtr> exported_;
  std::shared_ptr<rclcpp::Node> node_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  rclcpp::Publisher<geometry_msgs::msg::InertiaStamped>::SharedPtr payload_;
  rclcpp::Publisher<geometry_msgs::msg::Vector3Stamped>::SharedPtr gravity_;
  rclcpp::Publisher<geometry_msgs::msg::TwistStamped>::SharedPtr twist_;
};

}  // namespace

int main(int argc, char ** argv)
{
  if (argc != 3) {return 1;}
  rclcpp::init(1, argv);
  {
    std::vector<std::unique_ptr<Harness>> robots;
    robots.push_back(std::make_unique<Harness>(argv[1], argv[2]));
    std::size_t selected = 0;
    for (std::string text; std::getline(std::cin, text); ) {
      std::istringstream line(text);
      std::string name, urdf, parameters;
      line >> name;
      if (name == "robot") {
        line >> urdf >> parameters;
        selected = robots.size();
        robots.push_back(std::make_unique<Harness>(urdf, parameters));
        std::cout << "ok" << std::endl;
      } else if (name == "select") {
        selected = static_cast<std::size_t>(numbers(line).at(0));
        std::cout << "ok" << std::endl;
      } else {
        std::cout << robots.at(selected)->run(name, line) << std::endl;
      }
    }
  }
  rclcpp::shutdown();
  return 0;
}
