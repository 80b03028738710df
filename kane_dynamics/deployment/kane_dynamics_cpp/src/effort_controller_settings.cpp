// SPDX-License-Identifier: Apache-2.0
// What the library, parameters and topics tell the controller; no update calls anything here.
#include "kane_dynamics_cpp/effort_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <rclcpp/rclcpp.hpp>

#include "kane_dynamics_cpp/description_difference.hpp"
#include "kane_dynamics_cpp/library_path.hpp"
#include "kane_dynamics_cpp/validators.hpp"

namespace kane_dynamics
{
namespace
{

constexpr double LARGEST_GRAVITY = 1e3;  // [m/s^2]
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

bool is_load(const rclcpp::Parameter & parameter)
{
  return parameter.get_name() == "gravity" || parameter.get_name().rfind("payload.", 0) == 0;
}

}  // namespace

/// Load the library, hold it against robot_description, and find the places of all names.
void EffortController::load_library()
{
  observer_.reset();
  library_ = std::make_unique<RobotLibrary>(library_path(params_.robot_library));
  const auto difference =
    description_difference(library_->robot().urdf, get_robot_description());
  if (!difference.empty()) {
    throw std::runtime_error(
            params_.robot_library + " was built from another robot than robot_description: " +
            difference);
  }
  const auto & motors = library_->motor_names();
  joints_ = params_.joints.empty() ? motors : params_.joints;
  state_names_ = library_->state_names();
  joint_places_.clear();
  for (const auto & joint : joints_) {
    if (std::find(motors.begin(), motors.end(), joint) == motors.end()) {
      throw std::runtime_error("joints: '" + joint + "' has no motor in " + params_.robot_library);
    }
    joint_places_.push_back(library_->velocity_index(joint));
  }
  state_places_ = library_->velocity_indices(state_names_);
  reference_places_ = library_->velocity_indices(library_->reference_names());
  find_payloads();
  const auto & names = library_->reference_names();
  base_from_topic_ = params_.base.source != "none";
  if (base_from_topic_ && (names.size() < 3 || names[0] != "base_x")) {
    throw std::runtime_error(
            "base.source: the library takes no velocities of a base; build it from parameters with "
            "base.command_interface: velocity");
  }
  observer_.emplace(*library_);
  const auto count = static_cast<Eigen::Index>(joints_.size());
  motion_ = library_->make_motor_efforts();
  q_ = v_ = a_ = measured_ = measured_velocity_ = applied_ = Eigen::VectorXd::Zero(library_->nv());
  target_ = Eigen::VectorXd::Constant(library_->nv(), NONE);
  due_position_ = due_velocity_ = integral_ = Eigen::VectorXd::Zero(count);
  references_ = Eigen::VectorXd::Constant(
    static_cast<Eigen::Index>(KINDS.size() * reference_places_.size()) + count, NONE);
}

/// Find the payload frames of the parameters among those of the library.
void EffortController::find_payloads()
{
  const auto & frames = library_->payload_frames();
  payload_places_.clear();
  for (const auto & frame : params_.payload_frames) {
    const auto place = std::find(frames.begin(), frames.end(), frame);
    if (place == frames.end()) {
      throw std::runtime_error(
              "payload_frames: the library was built without '" + frame + "' (--payloads)");
    }
    payload_places_.push_back(place - frames.begin());
  }
}

// parameters and topics

/// Take over parameters that have been set; unless gravity or a payload is among them, what topics set stays.
void EffortController::apply_changed(const std::vector<rclcpp::Parameter> & changed)
{
  apply_parameters();
  if (std::any_of(changed.begin(), changed.end(), is_load)) {
    apply_load();
  }
}

/// Take over all parameters but gravity and payloads; they are in force at the next update.
void EffortController::apply_parameters()
{
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto params = listener_->get_params();
  const auto count = static_cast<Eigen::Index>(joints_.size());
  auto & s = wanted_;
  s.p = s.i = s.d = s.i_limit = Eigen::VectorXd::Zero(count);
  s.effort_limit = Eigen::VectorXd::Constant(count, std::numeric_limits<double>::infinity());
  const auto & limits = get_hard_joint_limits();
  for (Eigen::Index k = 0; k < count; ++k) {
    if (const auto one = params.gains.joints_map.find(joints_[k]);
      one != params.gains.joints_map.end())
    {
      const auto & gains = one->second;
      s.p[k] = gains.p, s.i[k] = gains.i, s.d[k] = gains.d, s.i_limit[k] = gains.i_limit;
    }
    const auto limit = limits.find(joints_[k]);
    if (params.enforce_command_limits && limit != limits.end() && limit->second.has_effort_limits) {
      s.effort_limit[k] = params.effort_limit_scale * limit->second.max_effort;
    }
  }
  s.response_time = params.base.response_time;
  s.base_timeout = params.base.timeout;
  s.observer_gain = params.observer_gain;
  s.state_timeout = params.state_timeout;
  publish();
}

/// Take over gravity and payloads of the parameters, in place of those of topics.
void EffortController::apply_load()
{
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto params = listener_->get_params();
  gravity_ = Eigen::Map<const Eigen::Vector3d>(params.gravity.data());
  payloads_.assign(library_->payload_frames().size(), Payload{});
  for (std::size_t k = 0; k < payload_places_.size(); ++k) {
    const auto & one = params.payload.payload_frames_map.at(params.payload_frames[k]);
    payloads_[payload_places_[k]] = {
      one.mass, Eigen::Map<const Eigen::Vector3d>(one.com.data()),
      Eigen::Map<const Eigen::Matrix<double, 6, 1>>(one.inertia.data())};
  }
  publish_load();
}

/// Hand gravity and payloads over to the update; `mutex_` is locked.
void EffortController::publish_load()
{
  wanted_.parameters = library_->default_parameters();
  if (!library_->load(gravity_, payloads_, wanted_.parameters)) {
    RCLCPP_ERROR(get_node()->get_logger(), "the library takes no such gravity and payloads");
    wanted_.parameters = library_->default_parameters();
  }
  publish();
}

/// Hand the settings over to the update; `mutex_` is locked.
void EffortController::publish()
{
  next_ = wanted_;
  fresh_ = true;
}

void EffortController::subscribe()
{
  using std::placeholders::_1;
  subscriptions_ = {
    get_node()->create_subscription<geometry_msgs::msg::InertiaStamped>(
      "~/payload", rclcpp::SystemDefaultsQoS(), std::bind(&EffortController::set_payload, this, _1)),
    get_node()->create_subscription<geometry_msgs::msg::Vector3Stamped>(
      "~/gravity", rclcpp::SensorDataQoS(), std::bind(&EffortController::set_gravity, this, _1))};
  if (params_.base.source == "twist") {
    subscriptions_.push_back(
      get_node()->create_subscription<geometry_msgs::msg::TwistStamped>(
        "~/base_twist", rclcpp::SystemDefaultsQoS(),
        [this](const geometry_msgs::msg::TwistStamped & message) {set_twist(message.twist);}));
  } else if (params_.base.source == "odometry") {
    subscriptions_.push_back(
      get_node()->create_subscription<nav_msgs::msg::Odometry>(
        "~/odom", rclcpp::SensorDataQoS(),
        [this](const nav_msgs::msg::Odometry & message) {set_twist(message.twist.twist);}));
  }
}

void EffortController::set_payload(const geometry_msgs::msg::InertiaStamped & message)
{
  const auto & x = message.inertia;
  const auto & frames = params_.payload_frames;
  const auto place = std::find(frames.begin(), frames.end(), message.header.frame_id);
  Payload payload{x.m, {x.com.x, x.com.y, x.com.z}, {}};
  payload.inertia << x.ixx, x.ixy, x.ixz, x.iyy, x.iyz, x.izz;
  if (place == frames.end()) {
    reject("~/payload", "frame_id '" + message.header.frame_id + "' is none of payload_frames");
  } else if (!(x.m >= 0.0 && std::isfinite(x.m) && payload.com.allFinite() &&
    is_inertia(payload.inertia)))
  {
    reject("~/payload", "need a mass of 0 kg or more, a finite centre of mass, an inertia of a body");
  } else {
    const std::lock_guard<std::mutex> lock(mutex_);
    payloads_[payload_places_[place - frames.begin()]] = payload;
    publish_load();
  }
}

void EffortController::set_gravity(const geometry_msgs::msg::Vector3Stamped & message)
{
  const Eigen::Vector3d gravity(message.vector.x, message.vector.y, message.vector.z);
  if (!(gravity.norm() <= LARGEST_GRAVITY)) {
    reject("~/gravity", "need three numbers of at most 1000 m/s^2 in all");
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  gravity_ = gravity;
  publish_load();
}

void EffortController::set_twist(const geometry_msgs::msg::Twist & twist)
{
  const Eigen::Vector3d planar(twist.linear.x, twist.linear.y, twist.angular.z);
  if (!planar.allFinite()) {
    reject(params_.base.source == "twist" ? "~/base_twist" : "~/odom", "a number is not finite");
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_.twist = planar;
  ++wanted_.twist_count;
  publish();
}

/// Say why a message is not taken, once a second for each topic.
void EffortController::reject(const std::string & topic, const std::string & reason)
{
  const auto now = std::chrono::steady_clock::now();
  auto & next = next_refusal_[topic];
  if (now >= next) {
    next = now + std::chrono::seconds(1);
    RCLCPP_WARN(get_node()->get_logger(), "%s refused: %s", topic.c_str(), reason.c_str());
  }
}

}  // namespace kane_dynamics
