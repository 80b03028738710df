// SPDX-License-Identifier: Apache-2.0
//
// A robot as `without_python.py` writes it, from standard input.

#pragma once

#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

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

template<template<typename, int> class Collection>
pin::JointModelTpl<double, 0, Collection> joint() {
  using Kinds = Collection<double, 0>;
  const auto kind = next<std::string>();
  const Eigen::Vector3d axis = numbers(3, 1);
  if (kind == "JointModelRX") return typename Kinds::JointModelRX();
  if (kind == "JointModelRY") return typename Kinds::JointModelRY();
  if (kind == "JointModelRZ") return typename Kinds::JointModelRZ();
  if (kind == "JointModelPX") return typename Kinds::JointModelPX();
  if (kind == "JointModelPY") return typename Kinds::JointModelPY();
  if (kind == "JointModelPZ") return typename Kinds::JointModelPZ();
  if (kind == "JointModelRevoluteUnaligned")
    return typename Kinds::JointModelRevoluteUnaligned(axis);
  if (kind == "JointModelPrismaticUnaligned")
    return typename Kinds::JointModelPrismaticUnaligned(axis);
  if constexpr (std::is_same_v<Kinds, pin::JointCollectionDefault>) {
    if (kind == "JointModelRUBX") return typename Kinds::JointModelRUBX();
    if (kind == "JointModelRUBY") return typename Kinds::JointModelRUBY();
    if (kind == "JointModelRUBZ") return typename Kinds::JointModelRUBZ();
  }
  throw std::runtime_error("no joint " + kind + " here");
}

// Joints of one body: where there is no composite, one after the other, the last with the body.
template<template<typename, int> class Collection>
std::vector<pin::JointModelTpl<double, 0, Collection>> joints() {
  std::vector<pin::JointModelTpl<double, 0, Collection>> parts(next<int>());
  for (auto & part : parts) part = joint<Collection>();
  if constexpr (std::is_same_v<Collection<double, 0>, pin::JointCollectionDefault>)
    if (parts.size() > 1) {
      pin::JointModelComposite several(parts.size());
      for (const auto & part : parts) several.addJoint(part);
      return {several};
    }
  return parts;
}

template<template<typename, int> class Collection = pin::JointCollectionDefaultTpl>
pin::ModelTpl<double, 0, Collection> robot() {
  pin::ModelTpl<double, 0, Collection> model;
  const int count = next<int>();
  std::vector<pin::JointIndex> ids{0};
  for (int k = 1; k <= count; ++k) {
    auto id = ids.at(next<int>());
    const auto parts = joints<Collection>();
    const Eigen::Matrix3d rotation = numbers(3, 3);
    const Eigen::Vector3d position = numbers(3, 1);
    pin::SE3 placement(rotation, position);
    for (const auto & part : parts) {
      id = model.addJoint(id, part, placement, std::to_string(model.njoints));
      placement.setIdentity();
    }
    ids.push_back(id);
    const double mass = next<double>();
    const Eigen::Vector3d lever = numbers(3, 1);
    const Eigen::Matrix3d inertia = numbers(3, 3);
    model.appendBodyToJoint(id, pin::Inertia(mass, lever, inertia), pin::SE3::Identity());
  }
  model.gravity.linear() = numbers(3, 1);
  model.armature = numbers(model.nv, 1);
  return model;
}
