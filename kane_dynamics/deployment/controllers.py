# SPDX-License-Identifier: Apache-2.0
"""Parameters of kane_dynamics/EffortController for a robot, and the ROS 2 package that has it."""

from collections.abc import Sequence
from pathlib import Path

from kane_dynamics.deployment.code_generation import filled
from kane_dynamics.deployment.core import CPP_PACKAGE, Plan, common_values

NEEDED = ('inverse_dynamics', 'bias_force', 'gravity_force', 'friction_force', 'mass_matrix')


def controller_problem(plan: Plan, functions: Sequence[str]) -> str:
    """Return why kane_dynamics/EffortController cannot move a robot, or ''."""
    needed = (*NEEDED, 'motor_efforts') if plan.rows_bind_motors else NEEDED
    missing = [name for name in needed if name not in functions]
    if missing:
        return f'the controller needs {", ".join(missing)}'
    if plan.robot.velocity_names != plan.robot.coordinate_names:
        return 'a joint has more than one degree of freedom, which ros2_control does not know'
    moved = [name for name in plan.motors if name not in plan.robot.joint_names]
    if moved:
        return f'{", ".join(moved)} are no joints: the drives of this base are not in its model'
    return ''


def write_controllers(plan: Plan, folder: Path) -> str:
    """Write the parameters of kane_dynamics/EffortController; return the name of the file."""
    gains = [f'      {name}: {{p: 0.0, i: 0.0, d: 0.0, i_limit: 0.0}}' for name in plan.motors]
    carrying = f'    payload_frames: [{", ".join(plan.payloads)}]'
    values = {
        **common_values(plan),
        'LIBRARY': (folder / f'lib{plan.name}.so').resolve(),
        'MOTOR_LIST': ', '.join(plan.motors),
        'REFERENCE_LIST': ', '.join(plan.references),
        'GAINS': '\n'.join(gains),
        'GRAVITY': ', '.join(repr(x) for x in plan.robot.gravity.tolist()),
        'PAYLOAD_FRAMES': carrying if plan.payloads else '',  # ROS takes no empty list
    }
    file = f'{plan.name}_controllers.yaml'
    (folder / file).write_text(filled('controllers.yaml', values), encoding='utf-8')
    return file


def write_cpp_package(folder: Path) -> Path:
    """Write the ROS 2 package kane_dynamics_cpp, the same for all robots; return its folder."""
    package = folder / CPP_PACKAGE.name
    for source in sorted(path for path in CPP_PACKAGE.rglob('*') if path.is_file()):
        target, content = package / source.relative_to(CPP_PACKAGE), source.read_bytes()
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != content:  # else colcon builds it again
            target.write_bytes(content)
    return package
