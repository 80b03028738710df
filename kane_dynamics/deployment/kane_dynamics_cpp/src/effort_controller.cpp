// SPDX-License-Identifier: Apache-2.0
#include "kane_dynamics_cpp/effort_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <pluginlib/class_list_macros.hpp>
#include <rclcpp/rclcpp.hpp>

namespace kane_dynamics
{
namespace
{

constexpr std::array<const char *, 3> TERMS{"feedforward", "feedback", "external_effort"};
constexpr double LARGEST = 1e13;  // input that a library takes
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

double or_zero(double x) {return std::isnan(x) ? 0.0 : x;}

hardware_interface::InterfaceDescription described(const std::string & prefix, const char * name)
{
  hardware_interface::InterfaceInfo info{};
  info.name = name;
  info.data_type = "double";
  return {prefix, info};
}

controller_interface::InterfaceConfiguration individual()
{
  return {controller_interface::interface_configuration_type::INDIVIDUAL, {}};
}

}  // namespace

controller_interface::CallbackReturn EffortController::on_init()
{
  try {
    listener_ = std::make_shared<effort_controller::ParamListener>(get_node());
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

controller_interface::InterfaceConfiguration
EffortController::command_interface_configuration() const
{
  auto configuration = individual();
  const auto prefix = params_.command_prefix.empty() ? "" : params_.command_prefix + "/";
  for (const auto & joint : joints_) {
    configuration.names.push_back(prefix + joint + "/effort");
  }
  return configuration;
}

controller_interface::InterfaceConfiguration
EffortController::state_interface_configuration() const
{
  auto configuration = individual();
  for (const auto & name : state_names_) {
    configuration.names.push_back(name + "/position");
  }
  for (const auto & joint : joints_) {
    configuration.names.push_back(joint + "/velocity");
  }
  return configuration;
}

controller_interface::CallbackReturn EffortController::on_configure(const rclcpp_lifecycle::State &)
{
  try {
    params_ = listener_->get_params();
    load_library();
    apply_parameters();
    apply_load();
    subscribe();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  parameters_handle_ = get_node()->add_post_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & changed) {apply_changed(changed);});
  return CallbackReturn::SUCCESS;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
EffortController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> list;
  const std::string prefix = std::string(get_node()->get_name()) + "/";
  const auto add = [&](const std::string & name, const char * kind) {
      list.push_back(
        std::make_shared<hardware_interface::CommandInterface>(described(prefix + name, kind)));
    };
  for (const auto & name : library_->reference_names()) {
    for (const auto & kind : KINDS) {
      add(name, kind);
    }
  }
  for (const auto & joint : joints_) {
    add(joint, "effort");
  }
  return list;
}

std::vector<hardware_interface::StateInterface::SharedPtr>
EffortController::on_export_state_interfaces_list()
{
  std::vector<hardware_interface::StateInterface::SharedPtr> list;
  for (const auto & joint : joints_) {
    for (const auto & term : TERMS) {
      list.push_back(
        std::make_shared<hardware_interface::StateInterface>(
          described(std::string(get_node()->get_name()) + "/" + joint, term)));
    }
  }
  return list;
}

controller_interface::CallbackReturn EffortController::on_activate(const rclcpp_lifecycle::State &)
{
  for (auto * vector : {&q_, &v_, &a_, &measured_, &measured_velocity_, &integral_, &applied_}) {
    vector->setZero();
  }
  for (const auto place : state_places_) {
    measured_[place] = NONE;
  }
  for (const auto place : joint_places_) {
    measured_velocity_[place] = NONE;
  }
  due_position_.setConstant(NONE);
  due_velocity_.setConstant(NONE);
  observer_->reset();
  base_.reset();
  known_ = false;
  waited_ = twist_age_ = 0.0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    now_ = wanted_;  // the first update may find it locked
  }
  return forget_references() ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
}

controller_interface::CallbackReturn EffortController::on_deactivate(const rclcpp_lifecycle::State &)
{
  bool written = true;
  for (auto & command : command_interfaces_) {
    written = command.set_value(0.0) && written;
  }
  return written ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
}

bool EffortController::forget_references()
{
  bool written = true;
  references_.setConstant(NONE);
  for (const auto & reference : ordered_exported_reference_interfaces_) {
    written = reference->set_value(NONE) && written;
  }
  return written;
}

// the update

controller_interface::return_type EffortController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return forget_references() ? return_type::OK : return_type::ERROR;
}

controller_interface::return_type EffortController::update_and_write_commands(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  const double seconds = period.seconds();
  take_settings();
  if (const auto unknown = read_states(); !unknown.empty()) {
    return wait_for_states(unknown, seconds);
  }
  known_ = true;
  read_references(seconds);
  const auto added = references_.tail(static_cast<Eigen::Index>(joints_.size())).array();
  const bool finite = (added.isNaN() || added.abs() <= LARGEST).all();
  if (!finite || !library_->motor_efforts(q_, v_, a_, now_.parameters, motion_)) {
    return fail("no certain efforts: " + cause());
  }
  observe(seconds);
  return write(seconds) ? return_type::OK : fail("a command interface could not be written");
}

/// Take what parameters and topics have set, unless somebody is just setting it.
void EffortController::take_settings()
{
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && fresh_) {
    std::swap(now_, next_);
    fresh_ = false;
  }
}

/// Read states, which stay as they were while somebody writes them; return the first unknown one.
std::string EffortController::read_states()
{
  const auto read = [this](std::size_t k, double & value) {
      value = state_interfaces_[k].get_optional().value_or(value);
      return std::isfinite(value) ? std::string() :
             state_interfaces_[k].get_name() + " is " + std::to_string(value);
    };
  std::string unknown;
  for (std::size_t k = 0; k < state_places_.size(); ++k) {
    const auto problem = read(k, measured_[state_places_[k]]);
    unknown = unknown.empty() ? problem : unknown;
  }
  for (std::size_t k = 0; k < joint_places_.size(); ++k) {
    const auto problem = read(state_places_.size() + k, measured_velocity_[joint_places_[k]]);
    unknown = unknown.empty() ? problem : unknown;
  }
  return unknown;
}

/// Read references into q, v, a, and the motion of the base from its topic.
void EffortController::read_references(double period)
{
  for (Eigen::Index k = 0; k < references_.size(); ++k) {
    references_[k] =
      ordered_exported_reference_interfaces_[k]->get_optional().value_or(references_[k]);
  }
  for (const auto place : state_places_) {
    q_[place] = measured_[place];
  }
  for (std::size_t k = 0; k < reference_places_.size(); ++k) {
    const auto place = reference_places_[k];
    const auto wanted = references_.segment<KINDS.size()>(KINDS.size() * k);
    target_[place] = wanted[0];
    q_[place] = std::isnan(wanted[0]) ? q_[place] : wanted[0];
    v_[place] = or_zero(wanted[1]);
    a_[place] = or_zero(wanted[2]);
  }
  if (base_from_topic_) {
    const bool same = std::exchange(twist_count_, now_.twist_count) == now_.twist_count;
    twist_age_ = same ? twist_age_ + period : 0.0;
    const bool late = twist_age_ > now_.base_timeout;
    base_.update(late ? Eigen::Vector3d::Zero() : now_.twist, period, now_.response_time);
    q_.head<3>().setZero();  // dynamics does not depend on where the base is
    v_.head<3>() = base_.velocity();
    a_.head<3>() = base_.acceleration();
  }
}

/// Observe external efforts by the efforts of the last update.
void EffortController::observe(double period)
{
  if (now_.observer_gain == 0.0) {
    observer_->reset();
  } else if (period > 0.0) {
    if (base_from_topic_) {
      measured_velocity_.head<3>() = base_.velocity();
    }
    observer_->update(
      measured_, measured_velocity_, applied_, now_.parameters, period, now_.observer_gain);
  }
}

/// Return the errors of position and velocity to the reference of the update before, if there was one.
std::pair<double, double> EffortController::errors(std::size_t k, Eigen::Index place)
{
  const auto position = std::exchange(due_position_[k], target_[place]);
  const auto velocity = std::exchange(due_velocity_[k], v_[place]);
  const bool due = !std::isnan(position);
  return {
    (due ? position : q_[place]) - measured_[place],
    (due ? velocity : v_[place]) - measured_velocity_[place]};
}

/// Add feedback and the references' efforts, and write what is within limits.
bool EffortController::write(double period)
{
  bool written = true;
  const auto first = static_cast<Eigen::Index>(KINDS.size() * reference_places_.size());
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const auto place = joint_places_[k];
    const auto [error, rate] = errors(k, place);
    const double step = now_.i[k] * error * period;
    integral_[k] = std::clamp(integral_[k] + step, -now_.i_limit[k], now_.i_limit[k]);
    const double feedforward = motion_.effort[place];
    const double feedback = now_.p[k] * error + now_.d[k] * rate + integral_[k];
    const double effort = feedforward + feedback + or_zero(references_[first + k]);
    applied_[place] = std::clamp(effort, -now_.effort_limit[k], now_.effort_limit[k]);
    written = command_interfaces_[k].set_value(applied_[place]) && written;
    const std::array<double, TERMS.size()> terms{feedforward, feedback, observer_->residual()[place]};
    for (std::size_t term = 0; term < terms.size(); ++term) {
      // a reader holds it: the value of the last update stays
      std::ignore = ordered_exported_state_interfaces_[TERMS.size() * k + term]->set_value(terms[term]);
    }
  }
  return written;
}

/// Command nothing while states are unknown after activation, for a time.
controller_interface::return_type EffortController::wait_for_states(
  const std::string & unknown, double period)
{
  if (known_ || waited_ > now_.state_timeout) {
    return fail(unknown + (known_ ? "" : " since the activation (state_timeout)"));
  }
  if (waited_ == 0.0) {
    RCLCPP_WARN(get_node()->get_logger(), "no efforts yet: %s", unknown.c_str());
  }
  waited_ += period;
  return return_type::OK;
}

/// Say why the manager will deactivate this controller.
controller_interface::return_type EffortController::fail(const std::string & reason)
{
  RCLCPP_ERROR(get_node()->get_logger(), "%s", reason.c_str());
  return return_type::ERROR;
}

/// Return which input the library refuses.
std::string EffortController::cause() const
{
  for (std::size_t kind = 0; kind < KINDS.size(); ++kind) {
    const auto & x = kind == 0 ? q_ : kind == 1 ? v_ : a_;
    for (const auto place : reference_places_) {
      if (!(std::abs(x[place]) <= LARGEST)) {
        return library_->velocity_names()[place] + "/" + KINDS[kind] + " is " + std::to_string(x[place]);
      }
    }
  }
  const auto added = references_.tail(static_cast<Eigen::Index>(joints_.size()));
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    if (std::abs(added[k]) > LARGEST) {
      return joints_[k] + "/effort is " + std::to_string(added[k]);
    }
  }
  return "constraint rows depend on each other here, or speeds break them";
}

}  // namespace kane_dynamics

PLUGINLIB_EXPORT_CLASS(
  kane_dynamics::EffortController, controller_interface::ChainableControllerInterface)
