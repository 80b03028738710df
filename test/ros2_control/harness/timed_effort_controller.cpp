// SPDX-License-Identifier: Apache-2.0
// kane_dynamics/EffortController that logs how long its updates took when it is deactivated.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include <pluginlib/class_list_macros.hpp>

#include "kane_dynamics_cpp/effort_controller.hpp"

namespace kane_dynamics_harness
{

class TimedEffortController : public kane_dynamics::EffortController
{
public:
  CallbackReturn on_activate(const rclcpp_lifecycle::State & state) override
  {
    wall_.reserve(MOST);
    busy_.reserve(MOST);
    return EffortController::on_activate(state);
  }

  return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override
  {
    const auto start = std::chrono::steady_clock::now();
    const double begin = processor();
    const auto code = EffortController::update_and_write_commands(time, period);
    const double end = processor();
    if (wall_.size() < MOST) {
      wall_.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      busy_.push_back(end - begin);
    }
    return code;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & state) override
  {
    report("wall", wall_);
    report("processor", busy_);
    return EffortController::on_deactivate(state);
  }

private:
  static constexpr std::size_t MOST{4'000'000};  // over an hour at 1 kHz

  /// Time of the processor in this thread [us].
  static double processor()
  {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
  }

  void report(const char * kind, std::vector<double> & times)
  {
    if (times.empty()) {return;}
    std::sort(times.begin(), times.end());
    const auto at = [&times](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
      };
    RCLCPP_INFO(
      get_node()->get_logger(), "updates %zu, %s time [us]: p50 %.2f p99 %.2f p99.9 %.2f max %.2f",
      times.size(), kind, at(0.5), at(0.99), at(0.999), times.back());
    times.clear();
  }

  std::vector<double> wall_, busy_;
};

}  // namespace kane_dynamics_harness

PLUGINLIB_EXPORT_CLASS(
  kane_dynamics_harness::TimedEffortController, controller_interface::ChainableControllerInterface)
