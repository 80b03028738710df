# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 package around the C library of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from kane_dynamics.deployment.code_generation import c_string, filled
from kane_dynamics.deployment.core import Plan, common_values

NEEDED = ('inverse_dynamics', 'bias_force', 'gravity_force', 'friction_force', 'mass_matrix')
_FILES = {
    'package.xml': 'package.xml',
    'CMakeLists.txt': 'CMakeLists.txt',
    'README.md': 'README.md',
    'controller_plugins.xml': 'controller_plugins.xml',
    'solver_plugins.xml': 'solver_plugins.xml',
    'controllers.yaml': 'config/controllers.yaml',
    'effort_controller.hpp': 'include/{package}/effort_controller.hpp',
    'solver.hpp': 'include/{package}/solver.hpp',
    'effort_controller.cpp': 'src/effort_controller.cpp',
    'solver.cpp': 'src/solver.cpp',
}
_OF_ALL = """\
  const int status = {name}_inverse_dynamics(
    q_.data(), v_.data(), a_.data(), parameters_.data(), efforts_.data());"""
_OF_MOTORS = """\
  // not used: what the rows add to the motion, their forces, and how well it is balanced
  std::array<double, {upper}_ROWS> multipliers;
  std::array<double, NV> velocity, acceleration;
  std::array<double, 3> quality;
  const double time = 0.0;  // rows of a base do not depend on it
  const int status = {name}_motor_efforts(
    q_.data(), v_.data(), a_.data(), &time, parameters_.data(), efforts_.data(),
    multipliers.data(), velocity.data(), acceleration.data(), quality.data());"""


def package_problem(plan: Plan, functions: Sequence[str]) -> str:
    """Return why a robot has no ROS 2 package, or ''."""
    needed = (*NEEDED, 'motor_efforts') if plan.constraints else NEEDED
    missing = [name for name in needed if name not in functions]
    if missing:
        return f'the package needs {", ".join(missing)}'
    if plan.robot.velocity_names != plan.robot.coordinate_names:
        return 'a joint has more than one degree of freedom, which ros2_control does not know'
    commanded = plan.commanded or plan.actuated
    moved = [name for name in commanded if name not in plan.robot.joint_names]
    if moved:
        return f'{", ".join(moved)} are no joints: the drives of this base are not in its model'
    return ''


def write_package(plan: Plan, folder: Path) -> str:
    """Write the package whose C library is in its folder ``core``."""
    package, names = f'{plan.name}_dynamics', plan.robot.velocity_names
    references = names if plan.known is None or not plan.constraints else plan.known
    states = [name for name in references if name in plan.robot.joint_names]
    motors = [name for name in names if name in (plan.commanded or plan.actuated)]
    compute = _OF_MOTORS if plan.constraints else _OF_ALL
    values = {
        **common_values(plan),
        'PACKAGE': package,
        'PACKAGE_UPPER': package.upper(),
        'ROBOT_XML': escape(plan.robot.name),
        'COMPUTE': compute.format(name=plan.name, upper=plan.name.upper()),
        'GRAVITY': ', '.join(repr(x) for x in plan.robot.gravity.tolist()),
    }
    lists = {'REFERENCE': references, 'STATE': states, 'MOTOR': motors}
    values |= {f'{key}_COUNT': len(several) for key, several in lists.items()}
    values |= {
        'REFERENCES': _places(plan, references),
        'STATES': _places(plan, states),
        'MOTOR_LIST': _places(plan, motors),
    }
    for template, place in _FILES.items():
        path = folder / place.format(package=package)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(template, values), encoding='utf-8')
    return package


def _places(plan: Plan, names: Sequence[str]) -> str:
    return ', '.join(f'{{{c_string(name)}, {plan.robot.velocity_index(name)}}}' for name in names)
