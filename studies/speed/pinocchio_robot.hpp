// SPDX-License-Identifier: Apache-2.0
//
// A robot as `without_python.py` writes it, from standard input.

#pragma once

#include <iostream>
#include <stdexcept>
#include <string>

#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

template<typename T>
T next() {
  T x;
  if (!(std::cin >> x)) throw std::runtime_error("the input ends, or is no number, where one is due");
  return x;
}

inline Matrix numbers(int rows, int columns) {
  Matrix x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) x(i, j) = next<double>();
  return x;
}

inline pin::JointModel joint() {
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

inline pin::JointModel joints() {
  const int count = next<int>();
  if (count == 1) return joint();
  pin::JointModelComposite several(count);
  for (int k = 0; k < count; ++k) several.addJoint(joint());
  return several;
}

inline pin::Model robot() {
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
