# SPDX-License-Identifier: Apache-2.0
"""
A mobile manipulator drives to a shelf and puts an object between its boards: optimal control.

CasADi and IPOPT, direct collocation of Hermite and Simpson: speeds are cubics between knots,
order 4. The unknowns are coordinates, minimal speeds and their rates; efforts are inverse
dynamics of these. First and second derivatives come from the graphs of the package, sparse.
Then the plan is checked twice: by the accelerations of another method, and by a simulation in
which dry friction is not smoothed and drives with gains follow the plan.

Run ``python examples/optimal_control/drive_to_a_shelf.py``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import shelf
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

import kane_dynamics as kd
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.animation import write_pictures
from kane_dynamics.view.drawing import Drawing, Shape, box, sphere, urdf_drawing
from kane_dynamics.view.plots import Panel
from kane_dynamics.view.recorder import record

Floats = NDArray[np.float64]
# the cost: time, times 1 + means of squares of efforts, in parts of their limits, and of rates
EFFORTS, RATES = 0.3, 0.002  # [1], [s^4/rad^2]
NEAR = 0.03  # between spheres and shelf at the instants planned [m]
LONGEST = 15.0  # [s]

# drives of the simulation, wheels and arm: [N m/rad], [N m s/rad]
STIFFNESS = np.array([20.0, 20.0, 100.0, 150.0, 60.0, 20.0, 10.0])
DAMPING = np.array([2.0, 2.0, 10.0, 15.0, 6.0, 2.0, 1.0])
STEP = 0.005  # [s]


@dataclass(frozen=True, eq=False)
class Plan:
    """States and efforts at knots and in the middles between them, p = 2 n + 1 instants."""

    times: Floats  # (p,) [s]
    q: Floats  # (p, nq)
    u: Floats  # (p, 7) [rad/s]
    du: Floats  # (p, 7) [rad/s^2]
    effort: Floats  # (p, 7) [N m]
    iterations: int
    seconds: tuple[float, float]  # to solve: wall, processor


def demand_cubics(opti: ca.Opti, step: Any, x: Any, rate: Any) -> None:
    """Demand that x follows from its rates over each interval; columns are instants."""
    first, middle, last = x[:, :-1:2], x[:, 1::2], x[:, 2::2]
    before, between, after = rate[:, :-1:2], rate[:, 1::2], rate[:, 2::2]
    opti.subject_to(last - first == step / 6 * (before + 4 * between + after))
    opti.subject_to(middle == (first + last) / 2 + step / 8 * (before - after))


def demand_task(opti: ca.Opti, q: Any, u: Any) -> None:
    """Demand the start, the end, and what lies between: no joint and no sphere beyond limits."""
    robot, count = shelf.loaded_robot(), q.shape[1]
    opti.subject_to(q[:, 0] == shelf.START)
    opti.subject_to(u[:, 0] == 0)
    opti.subject_to(u[:, -1] == 0)
    ends = shelf.spheres()(q[:, -1])
    opti.subject_to(ends[shelf.OBJECT, :].T == shelf.PLACE)
    opti.subject_to(ends[shelf.OBJECT, 2] == ends[shelf.HAND, 2])  # the hand is level

    low, high = (np.repeat(x[5:, None], count, axis=1) for x in (robot.lower, robot.upper))
    opti.subject_to(opti.bounded(low, q[5:, :], high))
    apart, height = shelf.clearances().map(count)(q)
    least = np.tile(shelf.RADII + NEAR, 2 * count)
    opti.subject_to(ca.vec(apart) >= least)
    deck = np.tile(shelf.DECK + shelf.RADII[shelf.ON_ARM], count)
    opti.subject_to(ca.vec(height) >= deck)


def plan(intervals: int) -> Plan:
    """Return the quickest way to the shelf that spares the drives; CasADi raises for none."""
    count = 2 * intervals + 1
    most_speed, most_effort = (np.repeat(x[:, None], count, axis=1) for x in shelf.limits())
    opti = ca.Opti()
    q, u, du = (opti.variable(size, count) for size in (len(shelf.START), 7, 7))
    duration = opti.variable()
    dq, effort = shelf.drives().map(count)(q, u, du)
    demand_cubics(opti, duration / intervals, q, dq)
    demand_cubics(opti, duration / intervals, u, du)
    demand_task(opti, q, u)
    opti.subject_to(opti.bounded(0.1, duration, LONGEST))
    opti.subject_to(opti.bounded(-most_speed, u, most_speed))
    used = effort / most_effort
    opti.subject_to(opti.bounded(-1.0, ca.vec(used), 1.0))

    simpson = np.array([1.0, *[4.0, 2.0] * (intervals - 1), 4.0, 1.0]) / (6 * intervals)
    squares = EFFORTS * ca.sum1(used**2) + RATES * ca.sum1(du**2)
    opti.minimize(duration * (1.0 + ca.dot(simpson, squares.T)))

    part = np.linspace(0.0, 1.0, count)
    opti.set_initial(q, shelf.START[:, None] + np.outer(shelf.READY - shelf.START, part))
    opti.set_initial(duration, 4.0)
    opti.solver('ipopt', {'print_time': False, 'ipopt.print_level': 0, 'ipopt.sb': 'yes'})
    wall, cpu = time.perf_counter(), time.process_time()
    found = opti.solve()
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    rows = [np.array(found.value(x)).T for x in (q, u, du, effort)]
    return Plan(part * found.value(duration), *rows, found.stats()['iter_count'], seconds)


def disagreement(found: Plan) -> float:
    """
    Return how far accelerations of the plan are from those of its efforts [rad/s^2, m/s^2].

    The other side is Gauss's principle with multipliers of the wheels' rows, at every instant.
    """
    robot = shelf.loaded_robot(dry=False)
    gauss = kd.dynamics(robot, (shelf.rolling(robot),))
    speeds, worst = shelf.speeds(robot), 0.0
    for q, u, du, effort in zip(found.q, found.u, found.du, found.effort, strict=True):
        v = speeds.velocity(q, u)
        state = speeds.at(q, v)
        net = effort - shelf.DRY * np.tanh(u / shelf.SWITCH)
        a = gauss.acceleration(q, v, np.concatenate([np.zeros(3), net]))
        worst = max(worst, float(np.abs(a - state.W @ du - state.bias).max()))
    return worst


def follow(found: Plan) -> tuple[kd.simulation.Trajectory, Floats]:
    """Return the simulated motion of drives that follow a plan, and where they should be, q."""
    robot = shelf.loaded_robot(damping=DAMPING)
    fast, speeds = kd.compile(robot, (shelf.rolling(robot),)), shelf.speeds(robot)
    knots, speed = found.times[::2], found.u[::2]
    v = np.array([speeds.velocity(*state) for state in zip(found.q[::2], speed, strict=True)])
    q_planned = CubicHermiteSpline(knots, found.q[::2], v)
    u_planned = CubicHermiteSpline(knots, speed, found.du[::2])
    feedforward = shelf.drives()

    def law(t: float, q: Floats, v: Floats) -> Floats:
        q_now, u_now = q_planned(t), u_planned(t)
        effort = np.array(feedforward(q_now, u_now, u_planned(t, 1))[1]).ravel()
        effort += STIFFNESS * (q_now - q)[3:] + DAMPING * u_now
        return np.concatenate([np.zeros(3), effort])

    steps = {'step': STEP, 'integrator': 'semi_implicit'}
    motion = fast.simulate(found.q[0], v[0], knots[-1], effort=law, **steps)
    return motion, q_planned(motion.time)


def drawing(robot: kd.Robot) -> Drawing:
    """Return the robot, its load and the shelf."""
    frame = robot.frame('object')
    load = Shape(0, *sphere(0.05), (0.0, 0.62, 0.45)).moved(frame.pose, frame.body)
    boards = []
    for middle, half in map(shelf.box, shelf.BOXES):
        place = kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), middle)
        boards.append(Shape(-1, *box(2 * half), (0.8, 0.7, 0.55)).moved(place, -1))
    robot_shapes = urdf_drawing(robot, resolve(shelf.URDF)).shapes
    return Drawing((*robot_shapes, load, *boards))


def write_results(found: Plan, motion: kd.simulation.Trajectory, folder: Path) -> list[Path]:
    """Write recording, animation, strobe picture and curves of what was simulated."""
    robot, names = shelf.loaded_robot(), [name.removesuffix('_joint') for name in shelf.NAMES]
    recording = record(robot, motion, drawing=drawing(robot))
    _, most = shelf.limits()
    used = {
        name: np.interp(recording.time, found.times, row)
        for name, row in zip(names, (found.effort / most).T, strict=True)
    }
    panels = [
        Panel('wheels [rad/s]', dict(zip(names[:2], recording.v[:, 3:5].T, strict=True))),
        Panel('arm [rad/s]', dict(zip(names[2:], recording.v[:, 5:].T, strict=True))),
        Panel('effort/limit [1]', used),
    ]
    return write_pictures(recording, folder, 'drive_to_a_shelf', panels, speed=0.5)


def main(arguments: list[str] | None = None) -> None:
    """Plan, check, print and write pictures."""
    parser = argparse.ArgumentParser(description='to a shelf by optimal control')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    parser.add_argument('--intervals', type=int, default=20)
    chosen = parser.parse_args(arguments)
    found = plan(chosen.intervals)
    wall, cpu = (1e3 * seconds / found.iterations for seconds in found.seconds)
    print(f'{found.times[-1]:.3f} s long, {found.iterations} iterations of IPOPT')
    print(f'time an iteration: {wall:.1f} ms wall, {cpu:.1f} ms processor')
    print(f'clearance at the instants planned: {1e3 * shelf.least_clearance(found.q):.1f} mm')
    print(f"accelerations are Gauss's to {disagreement(found):.1e}")
    motion, planned = follow(found)
    off = np.linalg.norm(shelf.objects(motion.q) - shelf.objects(planned), axis=-1)
    print(f'simulated with dry friction: object off by {1e3 * off[-1]:.2f} mm at the end')
    print(f'on the way by {1e3 * off.max():.2f} mm at most')
    print(f'clearance as simulated: {1e3 * shelf.least_clearance(motion.q):.1f} mm')
    for path in write_results(found, motion, chosen.output):
        print(f'wrote {path}')


if __name__ == '__main__':
    main()
