# SPDX-License-Identifier: Apache-2.0
"""
A mobile manipulator drives through a door to a pose of its hand, by sampled rollouts at 50 Hz.

Model predictive path integral control (Williams et al., 2017): each period draws targets for the
drives around the best ones known, moves the robot under all of them in one `kd.rollout`, and takes
their mean, weighted by exp(-cost). The base of the robot cannot slip sideways. The plant knows
better than the model: it feels gravity, carries a payload, and steps 20 times as finely.

Run ``python examples/mppi_door.py``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.plots import COLUMN, paper_style, save_figure

Floats = NDArray[np.float64]
URDF, HAND = 'package://kane_dynamics/robots/nonholonomic.urdf', 'tool_link'
WHEELS = ('wheel_left_joint', 'wheel_right_joint')

# the place: a wall along y with a door, SI units
WALL, THICKNESS, DOOR = 1.5, 0.1, 0.62  # x of its middle, [m]; the robot is 0.46 m wide
GOAL, HEADING = np.array([3.2, 0.45, 0.75]), 0.5  # of the hand [m], of the base [rad]
NEAR, ALIGNED = 0.05, 0.2  # [m], [rad]: there
START = (0.0, 0.9, -0.9)  # x, y [m], yaw [rad]
TUCKED = np.array([0.0, -1.2, 2.2, 0.0, 0.6])  # of the arm [rad]: the hand over the front
REACHING = np.array([0.0, 0.6, 0.7, 0.0, 0.3])
FRONT, BACK, SIDE = 0.29, -0.21, 0.23  # of the outline from the middle of the axle [m]
PALM = 0.08  # around the hand [m]

# the drives, tracked at every step: targets of speed ahead, yaw rate and posture
FORCE, TORQUE = (250.0, 120.0), (12.0, 25.0)  # gain and limit: [N s/m], [N]; [N m s/rad], [N m]
STIFFNESS = np.array([6.0, 150.0, 40.0, 2.0, 4.0])  # of the arm [N m/rad]
DAMPING = np.array([1.0, 15.0, 4.0, 0.2, 0.3])  # [N m s/rad], beside that of the URDF

# the controller
PERIOD, HORIZON = 0.02, 2.0  # [s]
STEPS = {'step': 0.02, 'every': 5, 'integrator': 'semi_implicit'}  # costs of each fifth step
KNOTS, SAMPLES, TEMPERATURE = 8, 128, 1.0
LOW, HIGH = np.array([-0.3, -1.5, 0.0]), np.array([0.8, 1.5, 1.0])  # of targets
SPREAD = np.array([0.25, 0.6, 0.25])  # of samples
SAFE = 0.05  # [m] from the wall
PLANT_STEP, PAYLOAD = 0.001, 0.5  # [s], [kg]

BLUE, VERMILION, SKY = '#0072B2', '#D55E00', '#56B4E9'  # told apart by everybody (Okabe, Ito)
MOMENT = 75  # periods from one outline in the plot to the next


def driven_robot() -> kd.Robot:
    """Return the robot; damping of its drives is damping of its joints, for it is implicit."""
    robot = kd.load_urdf(resolve(URDF), base='planar', locked_joints=WHEELS)
    base, *arm = robot.bodies
    bodies = [
        replace(body, joint=replace(body.joint, damping=body.joint.damping + more))
        for body, more in zip(arm, DAMPING, strict=True)
    ]
    return replace(robot, bodies=(base, *bodies))


def hat(x: Any) -> Any:
    """Return 1 - |x| where it is positive, else 0; without a branch, so that it is traced."""
    left = 1.0 - abs(x)
    return 0.5 * (left + abs(left))


def clipped(x: Any, limit: float) -> Any:
    """Return x within +-limit."""
    return 0.5 * (abs(x + limit) - abs(x - limit))


def law(t: Any, q: Any, v: Any, gains: Any) -> list[Any]:
    """Return efforts of drives that follow targets, linear between knots; see `driven_robot`."""
    hats = [hat(t * (KNOTS - 1) / HORIZON - k) for k in range(KNOTS)]
    knots = np.reshape(gains, (3, KNOTS))
    targets = [sum(a * b for a, b in zip(row, hats, strict=True)) for row in knots]
    c, s = np.cos(q[2]), np.sin(q[2])
    force = clipped(FORCE[0] * (targets[0] - (c * v[0] + s * v[1])), FORCE[1])
    torque = clipped(TORQUE[0] * (targets[1] - v[2]), TORQUE[1])
    posture = [a + targets[2] * (b - a) for a, b in zip(TUCKED, REACHING, strict=True)]
    arm = [STIFFNESS[j] * (posture[j] - q[3 + j]) for j in range(5)]
    return [force * c, force * s, torque, *arm]


def clearance(points: Floats) -> Floats:
    """Return how far points (..., 2) are from the wall beside its door, negative inside [m]."""
    x = np.abs(points[..., 0] - WALL) - 0.5 * THICKNESS
    y = 0.5 * DOOR - np.abs(points[..., 1])
    outside = np.hypot(np.maximum(x, 0.0), np.maximum(y, 0.0))
    return outside + np.minimum(np.maximum(x, y), 0.0)


def outline(count: int) -> Floats:
    """Return points around the base, in its axes, (4 count, 2) [m]."""
    part = np.linspace(0.0, 1.0, count, endpoint=False)[:, None]
    corners = np.array([[BACK, -SIDE], [FRONT, -SIDE], [FRONT, SIDE], [BACK, SIDE]])
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    return np.concatenate([begin + part * (end - begin) for begin, end in sides])


COARSE, FINE = outline(3), outline(40)


def on_floor(q: Floats, points: Floats) -> Floats:
    """Return points of the base where it stands, (..., n, 2) [m]."""
    c, s = np.cos(q[..., 2, None]), np.sin(q[..., 2, None])
    x, y = points.T
    return np.stack([q[..., 0, None] + c * x - s * y, q[..., 1, None] + s * x + c * y], axis=-1)


def robot_clearance(q: Floats, hand: Floats, points: Floats) -> Floats:
    """Return the clearance of robots in states q (..., nq) with hands (..., 3) [m]."""
    base = clearance(on_floor(q, points)).min(axis=-1)
    return np.minimum(base, clearance(hand[..., :2]) - PALM)


def way(point: Floats) -> Floats:
    """Return the length of the way from points (..., 3) to the goal, through the door [m]."""
    door = np.array([WALL + 0.3, 0.0])
    by_door = np.linalg.norm(point[..., :2] - door, axis=-1) + np.linalg.norm(GOAL[:2] - door)
    straight = np.linalg.norm(point - GOAL, axis=-1)
    return np.where(point[..., 0] < door[0], by_door, straight)


class Controller:
    """Targets for the drives from sampled rollouts of a robot whose drives bear its weight."""

    def __init__(self, robot: kd.Robot, seed: int) -> None:
        weightless = robot.with_gravity((0.0, 0.0, 0.0))
        rows = (kd.constraints.no_side_slip(weightless),)
        self._targets = np.zeros((3, KNOTS))
        self._model = kd.compile(
            weightless, rows, frames=(HAND,), effort=law, gains=self._targets.ravel()
        )
        self._rng = np.random.default_rng(seed)

    def costs(self, times: Floats, q: Floats, v: Floats) -> Floats:
        """Return the costs of rollouts with states at times, (b,); and keep where they went."""
        poses = self._model.frame_poses(q.reshape(-1, q.shape[-1]))
        hand = poses[:, 0, :3].reshape(*q.shape[:-1], 3)
        self.sampled = q[..., :2]
        left, far = way(hand), robot_clearance(q, hand, COARSE)
        near = np.exp(-left / 0.4)
        turned = 1.0 - np.cos(q[..., 2] - HEADING)
        unfolded = np.abs(q[..., 3:] - TUCKED).sum(axis=-1)
        speed = np.hypot(v[..., 0], v[..., 1])
        stages = (
            4.0 * left
            + 4.0 * near * turned
            + 1.0 * np.minimum(left, 1.5) * unfolded
            + 2.0 * near * speed
            + 200.0 * np.maximum(SAFE - far, 0.0)
            + 300.0 * (far < 0.0)
        )
        return stages.mean(axis=1) + 10.0 * left[:, -1] + 10.0 * (near * turned)[:, -1]

    def targets(self, q: Floats, v: Floats) -> Floats:
        """Return the gains of `law` for the next period, from the state now."""
        drawn = SPREAD[:, None] * self._rng.normal(size=(SAMPLES, 3, KNOTS))
        drawn[0] = 0.0  # what is best known
        tried = np.clip(self._targets + drawn, LOW[:, None], HIGH[:, None])
        gains = tried.reshape(SAMPLES, -1)
        costs = kd.rollout(
            self._model, q, v, HORIZON, gains=gains, reduce=self.costs, **STEPS
        ).reduced
        costs = np.where(np.isfinite(costs), costs, np.inf)
        weights = np.exp(-(costs - costs.min()) / TEMPERATURE)
        best = np.tensordot(weights / weights.sum(), tried, axes=1)
        knots = np.linspace(0.0, HORIZON, KNOTS)
        self._targets = np.array([np.interp(knots + PERIOD, knots, row) for row in best])
        return best.ravel()


@dataclass(frozen=True, eq=False)
class Drive:
    """What the plant did, period by period; and the computing times of the periods [s]."""

    q: Floats  # (n, nq)
    hand: Floats  # (n, 3) [m]
    sampled: list[Floats]  # where rollouts went at some moments, (b, S, 2) [m]
    times: Floats  # (n, 2), wall and processor [s]

    def clearance(self) -> float:
        """Return how near the robot came to the wall [m]."""
        return float(robot_clearance(self.q, self.hand, FINE).min())


class Plant:
    """The robot as it is: with gravity and a payload that its drives do not know of."""

    def __init__(self, robot: kd.Robot) -> None:
        loaded = robot.with_payload(HAND, PAYLOAD)
        self._known = robot
        self._real = kd.compile(loaded, (kd.constraints.no_side_slip(loaded),), frames=(HAND,))

    def period(self, gains: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return the state one control period later."""
        held = kd.gravity_force(self._known, q)

        def effort(t: float, q: Floats, v: Floats) -> Floats:
            return np.array(law(t, q, v, gains)) + held

        motion = self._real.simulate(q, v, PERIOD, effort=effort, step=PLANT_STEP)
        return motion.q[-1], motion.v[-1]

    def hand(self, q: Floats) -> Floats:
        """Return where the hand is, (3,) [m]."""
        return self._real.frame_pose(HAND, q)[:3]


def drive(controller: Controller, plant: Plant, q: Floats, seconds: float) -> Drive:
    """Drive until the goal is reached, or so long."""
    v, places, hands, sampled, times = np.zeros(len(q)), [q], [plant.hand(q)], [], []
    for k in range(round(seconds / PERIOD)):
        wall, cpu = time.perf_counter(), time.process_time()
        gains = controller.targets(q, v)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
        if k % 50 == 0:
            sampled.append(controller.sampled)
        q, v = plant.period(gains, q, v)
        places.append(q)
        hands.append(plant.hand(q))
        if there(q, hands[-1]):
            break
    return Drive(np.array(places), np.array(hands), sampled, np.array(times))


def there(q: Floats, hand: Floats) -> bool:
    """Return whether the hand is at the goal, and the base points as it shall."""
    turned = abs(np.angle(np.exp(1j * (q[2] - HEADING))))
    return bool(np.linalg.norm(hand - GOAL) < NEAR and turned < ALIGNED)


@paper_style()
def picture(drive: Drive) -> Figure:
    """Return the drive from above."""
    figure = Figure((COLUMN, 3.5), layout='constrained')
    axes = figure.subplots()
    rays = LineCollection(np.concatenate(drive.sampled), colors=SKY, alpha=0.12, linewidths=0.6)
    rays.set(label='sampled rollouts', zorder=1)
    axes.add_collection(rays)
    for low in (-2.0, 0.5 * DOOR):
        place = (WALL - 0.5 * THICKNESS, low)
        axes.add_patch(Rectangle(place, THICKNESS, 2.0 - 0.5 * DOOR, color='0.35'))
    for k in [*range(0, len(drive.q), MOMENT), len(drive.q) - 1]:
        corners = on_floor(drive.q[k], outline(1))
        axes.add_patch(Polygon(corners, fill=False, edgecolor=BLUE, linewidth=1.0, zorder=3))
        axes.plot(*drive.hand[k, :2], 'o', color=VERMILION, markersize=3.0, zorder=4)
    axes.plot(*drive.q[:, :2].T, color=BLUE, linewidth=1.6, label='middle of the axle', zorder=3)
    axes.plot(*drive.hand[:, :2].T, '--', color=VERMILION, linewidth=1.6, label='hand', zorder=4)
    points_to = 0.25 * np.array([np.cos(HEADING), np.sin(HEADING)])
    axes.annotate('', GOAL[:2] + points_to, GOAL[:2], arrowprops={'arrowstyle': '->'})
    axes.plot(*GOAL[:2], 'k*', markersize=11.0, label='goal of the hand', zorder=5)
    axes.set(xlabel='x [m]', ylabel='y [m]', aspect='equal', xlim=(-0.6, 3.6), ylim=(-1.1, 1.4))
    legend = figure.legend(loc='outside lower center', ncols=2)
    legend.legend_handles[0].set_alpha(1.0)
    figure.suptitle(f'Through a door, at least {100.0 * drive.clearance():.1f} cm from it')
    return figure


def main(arguments: list[str] | None = None) -> None:
    """Drive, print how it went, and write the plot."""
    parser = argparse.ArgumentParser(description='through a door by sampled rollouts')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=15.0, help='of the robot, at most')
    chosen = parser.parse_args(arguments)
    robot, q = driven_robot(), np.array([*START, *TUCKED])
    controller, plant = Controller(robot, chosen.seed), Plant(robot)
    driven = drive(controller, plant, q, chosen.seconds)
    seconds, arrived = PERIOD * (len(driven.q) - 1), there(driven.q[-1], driven.hand[-1])
    off, least = np.linalg.norm(driven.hand[-1] - GOAL), driven.clearance()
    print(
        f'{"at the goal" if arrived else "not there"} after {seconds:.2f} s; '
        f'hand {100.0 * off:.1f} cm from it, base {np.degrees(driven.q[-1, 2] - HEADING):.1f} deg'
    )
    print(f'least clearance {100.0 * least:.1f} cm; door {DOOR:.2f} m, robot {2.0 * SIDE:.2f} m')
    for name, times in zip(('wall', 'processor'), 1e3 * driven.times[1:].T, strict=True):
        typical, late = np.quantile(times, (0.5, 0.99))
        print(f'{name} time a period: median {typical:.1f} ms, 99 % below {late:.1f} ms, of 20 ms')
    steps = SAMPLES * round(HORIZON / STEPS['step'])
    print(f'{SAMPLES} rollouts of {HORIZON:g} s: {steps} steps a period')
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / 'mppi_door.png'
    save_figure(picture(driven), path)
    print(f'wrote {path}')


if __name__ == '__main__':
    main()
