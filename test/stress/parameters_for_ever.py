# SPDX-License-Identifier: Apache-2.0
"""
A million settings of gravity and payloads, each followed by calls; run by ``make stress``.

Memory must not grow, and the last result must be that of a robot built with the last load.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from support.machines import DRIVE, differential_drive  # noqa: E402

import kane_dynamics as kd  # noqa: E402

CALLS = 1_000_000
EACH = 50  # settings of gravity for one of a payload, which adds up inertias
MOST_GROWTH = 64e3  # [bytes] a few pages of the allocator; a float for each call would be 24 MB


def main():
    """Set, call, and compare memory after a warm-up and at the end."""
    robot = differential_drive(arm=True)
    frame = robot.bodies[-1].name
    wheels = kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])
    fast = kd.compile(robot, [wheels], payloads=[frame], cache=False)
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-0.5, 0.5, (3, robot.nv))
    q, v = kd.simulation.project(robot, [wheels], q, v, 0.0)
    out, gravity = np.empty(robot.nv), np.array([0.0, 0.0, -9.81])
    simulation = kd.Simulation(robot, [wheels], engine=fast.engine())
    mass = 0.0

    def work(count):
        nonlocal mass
        for k in range(count):
            gravity[0] = 1e-6 * k
            fast.set_gravity(gravity)
            if k % EACH == 0:
                mass = 1e-5 * k
                fast.set_payload(frame, mass, (0.0, 0.1, 0.2))
                simulation.reset(q, v)
                simulation.step(a, 1)
            fast.inverse_dynamics(q, v, a, out=out)
            fast.acceleration(q, v, a, out=out)
        return _resident()

    before, start = work(CALLS // 20), time.monotonic()
    growth = work(CALLS) - before
    print(f'{CALLS} settings in {time.monotonic() - start:.0f} s, growth {growth / 1e3:.0f} kB')
    loaded = robot.with_gravity(gravity).with_payload(frame, mass, (0.0, 0.1, 0.2))
    expected = kd.forward_dynamics(loaded, q, v, a, [wheels]).acceleration
    gap = np.abs(out - expected).max() / np.abs(expected).max()
    print(f'last acceleration against a robot built with the last load: {gap:.1e}')
    if growth > MOST_GROWTH or gap > 1e-12:
        sys.exit('memory grew' if growth > MOST_GROWTH else 'the last load was not seen')


def _resident():
    """Return the memory of this process [bytes]."""
    return int(Path('/proc/self/statm').read_text().split()[1]) * 4096


if __name__ == '__main__':
    warnings.simplefilter('error')
    main()
