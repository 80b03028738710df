# SPDX-License-Identifier: Apache-2.0
"""One controller, built once: libraries of several robots side by side in one process."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_urdf import BASES, write_preset

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.deployment.core import reference_speeds
from kane_dynamics.robot_config.robot_source import model_of_file

CLOSE = {'rtol': 1e-10, 'atol': 1e-10}


def preset_of(kind, folder):
    """Return the parameters' file of a shipped robot, or of one on a kind of base."""
    if kind not in BASES:
        return kind
    driven = {'base.command_interface': 'velocity'} if kind == 'swerve' else {}  # as they are sold
    return str(write_preset(kind, folder, **driven))


def built_robot(kind, folder):
    """Build the library of a robot; return its model, URDF and controller's parameters."""
    preset = preset_of(kind, folder)
    place = folder / kind
    assert cli.main(['build', preset, '--output', str(place), '--name', 'robot']) == 0
    model = model_of_file(preset)
    (place / 'robot.urdf').write_text(model.text, encoding='utf-8')
    file = place / 'robot_controllers.yaml'
    text = file.read_text(encoding='utf-8').replace('robot_effort_', 'effort_')
    file.write_text(f'{text}\n    enforce_command_limits: false\n', encoding='utf-8')
    return model, place / 'robot.urdf', file


def compared(harness, model, rng):
    """Compare the efforts of a random motion with those of the engine."""
    robot, names = model.robot, reference_speeds(model)
    parts = [part.split() for part in harness.run('names').split('|')]
    taken = [name.split('/')[1] for name in parts[2] if name.endswith('/position')]
    assert taken == list(robot.velocity_names if names is None else names)
    joints = [name.split('/')[0] for name in parts[0]]
    q, v, a = robot.neutral(), *rng.uniform(-0.5, 0.5, (2, robot.nv))
    place = [robot.velocity_index(name) for name in taken]
    q[place] = rng.uniform(-0.5, 0.5, len(place))
    q[:3] = 0.0
    if not model.drives:  # else the wheels roll however they are steered
        engine = kd.dynamics(robot, model.constraints)
        A = engine.constraint_rows(q, v).matrix
        v = v - np.linalg.pinv(A) @ (A @ v)
        a = a - np.linalg.pinv(A) @ (A @ a - engine.constraint_rows(q, v).acceleration)
    harness.run('states', *np.zeros(len(parts[1])))
    motion = np.column_stack([q[place], v[place], a[place]]).ravel()
    harness.run('references', *motion, *np.zeros(len(joints)))
    code, allocations, values = harness.update()
    assert (code, allocations) == (0, 0), harness.log.read_text()
    if model.drives:
        effort = kd.inverse_dynamics(robot, q, v, a)
    else:
        found = engine.constrained_inverse_dynamics(q, v, a, model.actuated, known=names)
        effort = found.effort
    expected = effort[[robot.velocity_index(name) for name in joints]]
    assert_allclose(values[: len(joints)], expected, **CLOSE)
    assert np.abs(expected).max() > 1.0


def test_libraries_side_by_side(tmp_path, rng):
    from bed import missing

    if lacking := missing():
        pytest.skip(lacking)
    from workspace import Harness, built

    install = built()
    kinds = 'nonholonomic', 'tiago', 'mecanum', 'swerve'
    robots = [built_robot(kind, tmp_path) for kind in kinds]
    harness = Harness(install, *robots[0][1:], tmp_path / 'harness.log')
    try:
        for _, urdf, parameters in robots[1:]:
            assert harness.run('robot', urdf, parameters) == 'ok'
        for _ in range(2):  # there and back: one does not change what another gives
            for k, (model, *_) in enumerate(robots):
                assert harness.run('select', k) == 'ok'
                harness.run('chained', 1)
                harness.run('activate')
                compared(harness, model, rng)
                harness.run('deactivate')
    finally:
        harness.close()
