// SPDX-License-Identifier: Apache-2.0
// Calls a robot's library through kane_dynamics::RobotLibrary: LIBRARY q... v... a..., then of the
// second sample q... v... tau..., and the gain and period of an observer. Prints rows of numbers.
#include <cstdlib>
#include <iostream>

#include "kane_dynamics_cpp/base_motion.hpp"
#include "kane_dynamics_cpp/momentum_observer.hpp"
#include "kane_dynamics_cpp/robot_library.hpp"

int main(int argc, char ** argv)
try {
  using Eigen::VectorXd;
  const kane_dynamics::RobotLibrary library(argv[1]);
  const int nv = library.nv();
  if (argc != 4 + 6 * nv) {return 1;}
  VectorXd numbers(argc - 2);
  for (int k = 2; k < argc; ++k) {numbers[k - 2] = std::strtod(argv[k], nullptr);}
  const VectorXd q = numbers.head(nv), v = numbers.segment(nv, nv), a = numbers.segment(2 * nv, nv);
  const VectorXd q2 = numbers.segment(3 * nv, nv), v2 = numbers.segment(4 * nv, nv);
  const VectorXd tau = numbers.segment(5 * nv, nv);
  const double gain = numbers[6 * nv], period = numbers[6 * nv + 1];

  const Eigen::IOFormat row(Eigen::FullPrecision, Eigen::DontAlignCols, " ", " ");
  VectorXd parameters = library.default_parameters(), result(nv);
  auto efforts = library.make_motor_efforts();
  Eigen::MatrixXd M(nv, nv);
  bool sure = library.motor_efforts(q, v, a, parameters, efforts);
  std::cout << efforts.effort.format(row) << '\n';
  sure = library.mass_matrix(q, parameters, M) && sure;
  std::cout << M.format(row) << '\n';
  sure = library.bias_force(q, v, parameters, result) && sure;
  std::cout << result.format(row) << '\n';
  sure = library.gravity_force(q, parameters, result) && sure;
  std::cout << result.format(row) << '\n';
  sure = library.friction_force(v, parameters, result) && sure;
  std::cout << result.format(row) << '\n';
  kane_dynamics::MomentumObserver observer(library);
  sure = observer.update(q, v, tau, parameters, period, gain) && sure;
  sure = observer.update(q2, v2, tau, parameters, period, gain) && sure;
  std::cout << observer.residual().format(row) << '\n';
  parameters.head<3>() << 0.0, 0.0, 5.0;
  sure = library.motor_efforts(q, v, a, parameters, efforts) && sure;
  std::cout << efforts.effort.format(row) << '\n';
  kane_dynamics::BaseMotion base;
  base.update({0.3, -0.2, 0.5}, 0.01, 0.2);
  std::cout << base.velocity().format(row) << '\n' << base.acceleration().format(row) << '\n';
  const VectorXd wrong(nv + 1);  // none of these may be taken
  const bool refused = !library.motor_efforts(wrong, v, a, parameters, efforts) &&
    !library.bias_force(q, wrong, parameters, result) && !result.allFinite() &&
    !library.mass_matrix(q, wrong, M);
  return sure && refused ? 0 : 2;
} catch (const std::exception & error) {
  std::cerr << error.what() << '\n';
  return 3;
}
