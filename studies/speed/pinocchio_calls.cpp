// SPDX-License-Identifier: Apache-2.0
//
// One function of Pinocchio at one state, called in a loop without Python. CALL is the call,
// HEADER what declares it.
//
// Standard input: a robot and a state as `without_python.py` writes them; then a line
// "SECONDS LOOPS" for each turn. Standard output, JSON: a line with the result, then a line for
// each turn with the time of one call [ns] in the fastest of its loops.

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

#include HEADER

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

template<typename T>
T next() {
  T x;
  if (!(std::cin >> x)) throw std::runtime_error("the input ends, or is no number, where one is due");
  return x;
}

Matrix numbers(int rows, int columns) {
  Matrix x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) x(i, j) = next<double>();
  return x;
}

pin::JointModel joint() {
  const auto kind = next<std::string>();
  const Eigen::Vector3d axis = numbers(3, 1);
  if (kind == "JointModelRX") return pin::JointModelRX();
  if (kind == "JointModelRY") return pin::JointModelRY();
  if (kind == "JointModelRZ") return pin::JointModelRZ();
  if (kind == "JointModelPX") return pin::JointModelPX();
  if (kind == "JointModelPY") return pin::JointModelPY();
  if (kind == "JointModelPZ") return pin::JointModelPZ();
  if (kind == "JointModelRUBX") return pin::JointModelRUBX();
  if (kind == "JointModelRUBY") return pin::JointModelRUBY();
  if (kind == "JointModelRUBZ") return pin::JointModelRUBZ();
  if (kind == "JointModelRevoluteUnaligned") return pin::JointModelRevoluteUnaligned(axis);
  if (kind == "JointModelPrismaticUnaligned") return pin::JointModelPrismaticUnaligned(axis);
  throw std::runtime_error("no joint " + kind + " here");
}

pin::JointModel joints() {
  const int count = next<int>();
  if (count == 1) return joint();
  pin::JointModelComposite several(count);
  for (int k = 0; k < count; ++k) several.addJoint(joint());
  return several;
}

pin::Model robot() {
  pin::Model model;
  const int count = next<int>();
  for (int k = 1; k <= count; ++k) {
    const int parent = next<int>();
    const pin::JointModel kind = joints();
    const Eigen::Matrix3d rotation = numbers(3, 3);
    const Eigen::Vector3d position = numbers(3, 1);
    const auto id = model.addJoint(parent, kind, pin::SE3(rotation, position), std::to_string(k));
    const double mass = next<double>();
    const Eigen::Vector3d lever = numbers(3, 1);
    const Eigen::Matrix3d inertia = numbers(3, 3);
    model.appendBodyToJoint(id, pin::Inertia(mass, lever, inertia), pin::SE3::Identity());
  }
  model.gravity.linear() = numbers(3, 1);
  model.armature = numbers(model.nv, 1);
  return model;
}

int main() try {
  const pin::Model model = robot();
  pin::Data data(model);
  const Vector q = numbers(model.nq, 1), v = numbers(model.nv, 1), x = numbers(model.nv, 1);
  const int rows = next<int>();
  const Matrix J = numbers(rows, model.nv);
  const Vector gamma = numbers(rows, 1);

  const Matrix result = CALL;
  std::cout << std::setprecision(std::numeric_limits<double>::max_digits10) << "{\"result\": [";
  for (Eigen::Index k = 0; k < result.size(); ++k) std::cout << (k ? ", " : "") << result(k);
  std::cout << "]}" << std::endl;

  using Clock = std::chrono::steady_clock;
  volatile double kept = 0.0;  // what a call gives is used
  const auto loop = [&](long count) {
    const auto begin = Clock::now();
    for (long k = 0; k < count; ++k) kept = (CALL)(0, 0);
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  };
  double seconds;
  int loops;
  long count = 0;
  while (std::cin >> seconds >> loops) {
    if (!count)
      for (count = 1; loop(count) < 0.5e9 * seconds; count *= 2) {}
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < loops; ++k) best = std::min(best, loop(count));
    std::cout << "{\"ns\": " << best / count << "}" << std::endl;
  }
  return 0;
} catch (const std::exception & error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
