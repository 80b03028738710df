// SPDX-License-Identifier: Apache-2.0
//
// A function of Pinocchio as code: its templates, run on the symbols of CasADi (-DON_CASADI) or of
// CppADCodeGen.
//
// Arguments: a function and a file. Standard input: a robot, a state and rows as `generated.py`
// writes them. Written into the file: a casadi::Function, or lines of C that compute y from x with
// the temporary values t. x is q, v and a third vector, one after the other; y the result.

#define BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT  // Pinocchio asks for mimic joints

#ifdef ON_CASADI
#include <pinocchio/autodiff/casadi.hpp>
using Scalar = casadi::SX;
#else
#include <pinocchio/codegen/cppadcg.hpp>
using Code = CppAD::cg::CG<double>;
using Scalar = CppAD::AD<Code>;
#endif

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/contact-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_robot.hpp"

using Symbols = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using SymbolMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

// The joints that are needed: for all that Pinocchio has the compiler takes several times as long.
template<typename S, int Options>
struct Few {
  using JointModelRX = pin::JointModelRevoluteTpl<S, Options, 0>;
  using JointModelRY = pin::JointModelRevoluteTpl<S, Options, 1>;
  using JointModelRZ = pin::JointModelRevoluteTpl<S, Options, 2>;
  using JointModelPX = pin::JointModelPrismaticTpl<S, Options, 0>;
  using JointModelPY = pin::JointModelPrismaticTpl<S, Options, 1>;
  using JointModelPZ = pin::JointModelPrismaticTpl<S, Options, 2>;
  using JointModelRevoluteUnaligned = pin::JointModelRevoluteUnalignedTpl<S, Options>;
  using JointModelPrismaticUnaligned = pin::JointModelPrismaticUnalignedTpl<S, Options>;
  using JointModelVariant =
    boost::variant<JointModelRX, JointModelRY, JointModelRZ, JointModelPX, JointModelPY,
                   JointModelPZ, JointModelRevoluteUnaligned, JointModelPrismaticUnaligned>;
  using JointDataVariant = boost::variant<
    pin::JointDataRevoluteTpl<S, Options, 0>, pin::JointDataRevoluteTpl<S, Options, 1>,
    pin::JointDataRevoluteTpl<S, Options, 2>, pin::JointDataPrismaticTpl<S, Options, 0>,
    pin::JointDataPrismaticTpl<S, Options, 1>, pin::JointDataPrismaticTpl<S, Options, 2>,
    pin::JointDataRevoluteUnalignedTpl<S, Options>, pin::JointDataPrismaticUnalignedTpl<S, Options>>;
};

using Model = pin::ModelTpl<Scalar, 0, Few>;
using Data = pin::DataTpl<Scalar, 0, Few>;

// A a + gamma = 0, A = constant + cosine cos(heading) + sine sin(heading).
struct Rows {
  int heading;
  Matrix constant, cosine, sine;
  SymbolMatrix A;
  Symbols gamma;

  explicit Rows(int nv) {
    const int count = next<int>();
    heading = next<int>();
    constant = numbers(count, nv);
    cosine = numbers(count, nv);
    sine = numbers(count, nv);
  }

  void at(const Symbols & q, const Symbols & v) {
    using std::cos;
    using std::sin;
    A = constant.cast<Scalar>();
    gamma = Symbols::Constant(A.rows(), Scalar(0.0));
    if (!A.rows()) return;
    const Scalar c = cos(q(heading)), s = sin(q(heading));
    for (int i = 0; i < A.rows(); ++i)
      for (int j = 0; j < A.cols(); ++j) {
        if (cosine(i, j) == 0.0 && sine(i, j) == 0.0) continue;
        A(i, j) += Scalar(cosine(i, j)) * c + Scalar(sine(i, j)) * s;
        const Scalar slope = Scalar(sine(i, j)) * c - Scalar(cosine(i, j)) * s;
        gamma(i) += slope * v(heading) * v(j);
      }
  }
};

// Forward dynamics by the factors of M, without the square roots of pin::forwardDynamics.
Symbols by_factors(const Model & model, Data & data, const Symbols & q, const Symbols & v,
                   const Symbols & effort, const Rows & rows) {
  pin::crba(model, data, q, pin::Convention::LOCAL);
  pin::nonLinearEffects(model, data, q, v);
  pin::cholesky::decompose(model, data);  // M = U D U'
  Symbols y = effort - data.nle;
  pin::cholesky::Uiv(model, data, y);
  if (rows.A.rows()) {
    SymbolMatrix W = rows.A.transpose();
    pin::cholesky::Uiv(model, data, W);
    const SymbolMatrix DW = data.Dinv.asDiagonal() * W;
    const SymbolMatrix S = W.transpose() * DW;
    SymbolMatrix inverse(S.rows(), S.cols());
    pin::inverse(S, inverse);
    y -= W * (inverse * (DW.transpose() * y + rows.gamma));
  }
  Symbols a = data.Dinv.asDiagonal() * y;
  pin::cholesky::Utiv(model, data, a);
  return a;
}

Symbols upper(const SymbolMatrix & M) {
  Symbols y(M.rows() * (M.rows() + 1) / 2);
  Eigen::Index k = 0;
  for (int i = 0; i < M.rows(); ++i)
    for (int j = i; j < M.cols(); ++j) y(k++) = M(i, j);
  return y;
}

Symbols result(const std::string & name, const Model & model, Rows & rows, const Symbols & all) {
  Data data(model);
  const Symbols q = all.head(model.nq), v = all.segment(model.nq, model.nv);
  const Symbols x = all.tail(model.nv);
  rows.at(q, v);
  if (name == "rnea") return pin::rnea(model, data, q, v, x);
  if (name == "aba") return pin::aba(model, data, q, v, x, pin::Convention::LOCAL);
  if (name == "aba-world") return pin::aba(model, data, q, v, x, pin::Convention::WORLD);
  if (name == "crba") return upper(pin::crba(model, data, q, pin::Convention::LOCAL));
  if (name == "crba-world") return upper(pin::crba(model, data, q, pin::Convention::WORLD));
  if (name == "forwardDynamics")
    return pin::forwardDynamics(model, data, q, v, x, rows.A, rows.gamma, Scalar(0.0));
  if (name == "factors") return by_factors(model, data, q, v, x, rows);
  throw std::runtime_error("no function " + name + " here");
}

#ifdef ON_CASADI
void write(const std::string & name, const Model & model, Rows & rows, const Vector & at,
           const std::string & path) {
  const Scalar x = Scalar::sym("x", at.size());
  Symbols all(at.size());
  for (Eigen::Index k = 0; k < all.size(); ++k) all(k) = Scalar(x(k));
  const Symbols found = result(name, model, rows, all);
  const std::vector<Scalar> entries(found.data(), found.data() + found.size());
  casadi::Function("generated", {x}, {Scalar::densify(Scalar::vertcat(entries))}).save(path);
}
#else
void write(const std::string & name, const Model & model, Rows & rows, const Vector & at,
           const std::string & path) {
  Symbols all = at.cast<Scalar>();
  CppAD::Independent(all);
  Symbols found = result(name, model, rows, all);
  CppAD::ADFun<Code> function;
  function.Dependent(all, found);
  function.optimize("no_compare_op");
  CppAD::cg::CodeHandler<double> handler;
  CppAD::vector<Code> x(static_cast<size_t>(all.size()));
  handler.makeVariables(x);
  CppAD::vector<Code> y = function.Forward(0, x);
  CppAD::cg::LanguageC<double> language("double");
  language.setParameterPrecision(17);
  CppAD::cg::LangCDefaultVariableNameGenerator<double> names("y", "x", "t");
  std::ofstream file(path);
  std::ostringstream lines;
  handler.generateCode(lines, language, y, names);
  file << "double t[" << names.getMaxTemporaryVariableID() + 1 << "];\n" << lines.str();
}
#endif

int main(int count, char ** arguments) try {
  if (count != 3) throw std::runtime_error("need a function and a file");
  const auto read = robot<Few>();
  const Model model = read.cast<Scalar>();
  const Vector at = numbers(model.nq + 2 * model.nv, 1);
  Rows rows(model.nv);
  write(arguments[1], model, rows, at, arguments[2]);
  return 0;
} catch (const std::exception & error) {
  std::cerr << "error: " << error.what() << std::endl;
  return 1;
}
