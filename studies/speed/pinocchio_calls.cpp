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

#include HEADER

#include "pinocchio_robot.hpp"

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
