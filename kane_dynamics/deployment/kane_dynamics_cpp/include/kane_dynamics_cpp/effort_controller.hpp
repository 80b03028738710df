// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__EFFORT_CONTROLLER_HPP_
#define KANE_DYNAMICS_CPP__EFFORT_CONTROLLER_HPP_

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <controller_interface/chainable_controller_interface.hpp>
#include <geometry_msgs/msg/inertia_stamped.hpp>
#include <geometry_msgs/msg/twist_stamped.hpp>
#include <geometry_msgs/msg/vector3_stamped.hpp>
#include <nav_msgs/msg/odometry.hpp>

#include "kane_dynamics_cpp/base_motion.hpp"
#include "kane_dynamics_cpp/kane_dynamics_effort_controller_parameters.hpp"
#include "kane_dynamics_cpp/momentum_observer.hpp"
#include "kane_dynamics_cpp/robot_library.hpp"

namespace kane_dynamics
{

/// Efforts of the motion on the reference interfaces: u = ID(q_r, v_r, a_r) + PID(q_r - q) + u_r.
/**
 * References: <controller>/<name>/position, velocity, acceleration of each speed that the library
 * takes, and <controller>/<joint>/effort of each joint. Commands: <joint>/effort. States:
 * <joint>/position and velocity. Exported: <controller>/<joint>/feedforward, feedback and
 * external_effort.
 *
 * A reference is for the next update, as joint_trajectory_controller samples its trajectory: the
 * feedback compares the measured state with the reference of the update before.
 *
 * A position that is NaN is taken as measured, or 0 of what is not a joint; a velocity, an
 * acceleration or an effort that is NaN as zero. So without references, and whenever nothing
 * precedes this controller, the efforts carry the weight.
 */
class EffortController : public controller_interface::ChainableControllerInterface
{
public:
  using CallbackReturn = controller_interface::CallbackReturn;
  using return_type = controller_interface::return_type;

  CallbackReturn on_init() override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & state) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & state) override;
  return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
  std::vector<hardware_interface::StateInterface::SharedPtr>
  on_export_state_interfaces_list() override;
  return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  static constexpr std::array<const char *, 3> KINDS{"position", "velocity", "acceleration"};

  /// What parameters and topics set, for the next update.
  struct Settings
  {
    Eigen::VectorXd p, i, d, i_limit, effort_limit;  // of each joint
    Eigen::VectorXd parameters;                      // of the library: gravity and payloads
    Eigen::Vector3d twist{Eigen::Vector3d::Zero()};  // of the base
    unsigned twist_count{0};                         // of the twists so far
    double response_time{0.0}, base_timeout{0.0}, observer_gain{0.0}, state_timeout{0.0};
  };

  void load_library();
  void find_payloads();
  void apply_parameters();
  void apply_changed(const std::vector<rclcpp::Parameter> & changed);
  void apply_load();
  void publish_load();
  void publish();
  void subscribe();
  void set_payload(const geometry_msgs::msg::InertiaStamped & message);
  void set_gravity(const geometry_msgs::msg::Vector3Stamped & message);
  void set_twist(const geometry_msgs::msg::Twist & twist);
  void reject(const std::string & topic, const std::string & reason);

  void take_settings();
  std::string read_states();
  void read_references(double period);
  bool forget_references();
  void observe(double period);
  std::pair<double, double> errors(std::size_t k, Eigen::Index place);
  bool write(double period);
  return_type wait_for_states(const std::string & unknown, double period);
  return_type fail(const std::string & reason);
  std::string cause() const;

  std::shared_ptr<effort_controller::ParamListener> listener_;
  effort_controller::Params params_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr parameters_handle_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  std::map<std::string, std::chrono::steady_clock::time_point> next_refusal_;

  std::unique_ptr<RobotLibrary> library_;
  std::vector<std::string> joints_;         // with efforts
  std::vector<std::string> state_names_;    // joints whose positions are read
  std::vector<Eigen::Index> joint_places_, state_places_, reference_places_, payload_places_;
  bool base_from_topic_{false};

  std::mutex mutex_;                        // of what parameters and topics set
  Settings wanted_, next_;
  Eigen::Vector3d gravity_{Eigen::Vector3d::Zero()};
  std::vector<Payload> payloads_;
  bool fresh_{false};

  Settings now_;                            // from here on, of the update alone
  MotorEfforts motion_;
  std::optional<MomentumObserver> observer_;
  BaseMotion base_;
  Eigen::VectorXd q_, v_, a_, measured_, measured_velocity_, applied_;  // in the order of v
  Eigen::VectorXd target_;                  // positions of references, NaN where there is none
  Eigen::VectorXd references_;              // in the order of their interfaces
  Eigen::VectorXd due_position_, due_velocity_, integral_;  // of each joint
  bool known_{false};                       // whether states have been finite
  double waited_{0.0};                      // for that [s]
  unsigned twist_count_{0};                 // of the twists that the base follows
  double twist_age_{0.0};                   // of the last of them [s]
};

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__EFFORT_CONTROLLER_HPP_
