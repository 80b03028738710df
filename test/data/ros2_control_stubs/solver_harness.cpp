// SPDX-License-Identifier: Apache-2.0
// Calls a generated solver through its base class; prints M, C v, g and friction of one state.
#include <iostream>
#include <stdexcept>

#include "mobile_arm_dynamics/solver.hpp"

std::unique_ptr<inverse_dynamics_solver::InverseDynamicsSolver> make_plugin(
  inverse_dynamics_solver::InverseDynamicsSolver *);

int main()
{
  const auto solver = make_plugin(nullptr);
  solver->initialize();
  int count;
  std::cin >> count;
  Eigen::VectorXd q(count), v(count);
  for (auto & x : q) {std::cin >> x;}
  for (auto & x : v) {std::cin >> x;}
  std::cout.precision(17);
  std::cout << solver->getInertiaMatrix(q) << '\n'
            << solver->getCoriolisVector(q, v).transpose() << '\n'
            << solver->getGravityVector(q).transpose() << '\n'
            << solver->getFrictionVector(v).transpose() << '\n';
  int refused = 0;
  try {
    solver->getGravityVector(Eigen::VectorXd::Zero(count + 1));
  } catch (const std::invalid_argument &) {
    ++refused;
  }
  try {
    solver->getGravityVector(Eigen::VectorXd::Constant(count, 1e14));
  } catch (const std::runtime_error &) {
    ++refused;
  }
  return refused == 2 ? 0 : 1;
}
