# SPDX-License-Identifier: Apache-2.0
"""A minute's check of an installation: compiled code against the reference, in one line."""

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

import kane_dynamics as kd

sys.path.append(str(Path(__file__).resolve().parents[1]))
from support.machines import sled_with_arm

BOUND = 1e-10  # what compiled code and reference may differ by, relative to the largest entry
STATES = 1500  # whole vectors, what is left over, and more than one thread


def difference(found, expected):
    """Return the largest difference in units of the largest entry."""
    return np.abs(found - expected).max() / np.abs(expected).max()


def main():
    robot = sled_with_arm()
    constraints = (kd.constraints.no_side_slip(robot),)
    fast = kd.compile(robot, constraints, cache=False)
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, STATES, robot.nv))
    v[:, 1] = v[:, 0] * np.tan(q[:, 2])  # no slip
    worst = 0.0
    for k in (0, 1, STATES - 1):
        expected = {
            'inverse_dynamics': ((q, v, a), kd.inverse_dynamics(robot, q[k], v[k], a[k])),
            'mass_matrix': ((q,), kd.mass_matrix(robot, q[k])),
            'coriolis_matrix': ((q, v), kd.coriolis_matrix(robot, q[k], v[k])),
            'acceleration': (
                (q, v, a),
                kd.forward_dynamics(robot, q[k], v[k], a[k], constraints).acceleration,
            ),
        }
        for name, (arrays, wanted) in expected.items():
            function = getattr(fast, name)
            worst = max(worst, difference(function(*arrays)[k], wanted))
            worst = max(worst, difference(function(*(x[k] for x in arrays)), wanted))
    start = q[0], v[0]
    effort = np.zeros(robot.nv)
    path = fast.simulate(*start, 0.05, effort=effort, step=0.001, integrator='rk4')
    reference = kd.Simulation(robot, constraints, 0.001, 'rk4')
    reference.reset(*start)
    for _ in range(50):
        reference.step(effort)
    worst = max(worst, difference(path.q[-1], reference.q))
    entry = 'fast calls' if type(fast.mass_matrix) is type(len) else 'calls through Python'
    versions = ', '.join(f'{name} {version(name)}' for name in ('numpy', 'llvmlite', 'casadi'))
    print(
        f'{platform.system()} {platform.machine()}, Python {platform.python_version()}, '
        f'{versions}: {entry}, largest difference {worst:.0e}'
    )
    return 0 if worst < BOUND else 1


if __name__ == '__main__':
    sys.exit(main())
