# SPDX-License-Identifier: Apache-2.0
"""Mobile manipulators that bring their hands to poses while they drive, and their pictures."""

from functools import lru_cache
from typing import Any, cast

import numpy as np
from matplotlib.colors import to_rgb
from numpy.random import Generator
from PIL import ImageOps

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.compiler.compile_robot import compile_robot
from kane_dynamics.constraints.wheels import differential_drive
from kane_dynamics.learning.reading import BOUND, States, blank_states, read
from kane_dynamics.robot.checks import as_shaped
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.urdf import load_urdf
from kane_dynamics.rollouts.rollout import rollout
from kane_dynamics.simulation.drives_and_stops import Drives, packed
from kane_dynamics.typing import ArrayLike, Bools, Floats, NDArray
from kane_dynamics.view.animation import strobe_image
from kane_dynamics.view.drawing import Drawing, Shape, stick, urdf_drawing
from kane_dynamics.view.plots import CYCLE
from kane_dynamics.view.recorder import Recorder

URDF, HAND = 'package://kane_dynamics/robots/nonholonomic.urdf', 'tool_link'
WHEELS = ('wheel_left_joint', 'wheel_right_joint')
ARM = tuple(f'arm_{k}_joint' for k in range(1, 6))
GAINS = (5.0, 5.0, 4.0, 30.0, 5.0, 0.3, 0.8)  # of the drives [N m s/rad]; h k / I < 1 in all poses
PERIOD, STEP = 0.05, 0.0025  # of control, of integration [s]

# drawn for each episode: largest values
PAYLOAD, PAYLOAD_PLACE = 1.0, 0.05  # [kg], [m] in each axis of the hand
VISCOUS = np.array([0.5, 0.5, 0.5, 1.0, 0.5, 0.1, 0.1])  # [N m s/rad], beside that of the URDF
DRY = np.array([0.5, 0.5, 0.4, 0.6, 0.4, 0.04, 0.05])  # [N m]
START = np.array([0.0, -1.2, 2.2, 0.0, 0.6])  # the folded arm [rad], and 0.2 rad about it
NEAREST, FARTHEST = 0.3, 1.5  # of the base at the goal from its start [m]
REACH = 0.6  # of the range of each arm joint, for goals
LOWEST, INNERMOST = 0.15, 0.4  # of a goal: above the floor, from the middle of the axle [m]

SPEEDING = 4.0  # times the speed limits: nothing of this robot's moves so
BRAKING = 0.2  # [s] in which drives stop ahead of the end of a joint


class ReachTask:
    """The shipped robot on two wheels that roll exactly, its arm, and goals for its hand."""

    def __init__(self) -> None:
        robot = load_urdf(resolve(URDF), base='planar')
        joints = (*WHEELS, *ARM)
        law = Drives.of(robot, joints, GAINS)
        self.robot, self.drives = robot, np.array(law.indices)
        self._arm = self.drives[len(WHEELS) :]
        rows, gains = (differential_drive(robot, *WHEELS),), np.zeros(4 * len(joints))
        self._plant = compile_robot(
            robot, rows, frames=(HAND,), payloads=(HAND,), effort=law, gains=gains
        )

    @property
    def bounds(self) -> NDArray[np.float32]:
        """
        Return the largest of each observation; the least are their negatives.

        In axes of the base (x ahead, z up): from the hand to the goal (3) [m], the rotation vector
        that turns the hand into the goal (3) [rad]; speed ahead [m/s] and yaw rate [rad/s] of the
        base; angles (5) [rad] and speeds (5) [rad/s] of the arm.
        """
        robot, arm = self.robot, self._arm
        speed = robot.velocity_limit[arm]
        parts = ([BOUND] * 3, [np.pi] * 3, [3.0, 15.0], robot.upper[arm] + 0.5, 2.0 * speed)
        return np.concatenate(parts).astype(np.float32)

    def draw(self, rng: Generator) -> States:
        """Return one new state: a robot at rest, with a payload, friction and a goal."""
        state, count = blank_states(1), len(self.drives)
        state.q[0, self._arm] = START + rng.uniform(-0.2, 0.2, len(ARM))
        state.viscous_friction = VISCOUS * rng.uniform(size=(1, count))
        state.dry_friction = DRY * rng.uniform(size=(1, count))
        state.payload_mass = PAYLOAD * rng.uniform(size=1)
        state.payload_place = rng.uniform(-PAYLOAD_PLACE, PAYLOAD_PLACE, (1, 3))
        state.goal = self._goal(rng)
        self.read(state)
        return state

    def _goal(self, rng: Generator) -> Floats:
        """Return a pose (1, 7) that the hand has somewhere near, above the floor."""
        robot, arm = self.robot, self._arm
        while True:
            bearing, heading = rng.uniform(-np.pi, np.pi, 2)
            way = rng.uniform(NEAREST, FARTHEST)
            q = np.zeros(robot.nq)
            q[:3] = way * np.cos(bearing), way * np.sin(bearing), heading
            q[arm] = REACH * rng.uniform(robot.lower[arm], robot.upper[arm])
            pose = self._plant.frame_poses(q)
            if pose[0, 2] > LOWEST and np.hypot(*(pose[0, :2] - q[:2])) > INNERMOST:
                return pose

    def read(self, states: States) -> None:
        """Write into states what is seen of them."""
        read(states, self._plant.frame_poses(states.q)[:, 0], self._arm)
        states.observation = np.clip(states.observation, -self.bounds, self.bounds)

    def after(self, states: States, actions: Floats) -> tuple[States, Bools]:
        """Return states one control period later, and which are lost: too fast, or no numbers."""
        drives, robot, ends = self.drives, self.robot, states.copy()
        angles = states.q[:, drives]
        # drives of the arm brake where a joint ends; wheels have no end
        low = (robot.lower[drives] - angles) / BRAKING
        high = (robot.upper[drives] - angles) / BRAKING
        targets = np.clip(actions * robot.velocity_limit[drives], low, high)
        held = self._plant.gravity_force(states.q)[:, drives]  # of the arm without its payload
        payload = {'mass': states.payload_mass, 'center_of_mass': states.payload_place}
        gains = packed(targets, held, states.viscous_friction, states.dry_friction)
        start, loads = (states.q, states.v, PERIOD), {HAND: payload}
        result = rollout(self._plant, *start, gains=gains, payloads=loads, step=STEP)
        q, v = cast('Floats', result.q), cast('Floats', result.v)
        fast = np.abs(v[:, drives]) > SPEEDING * robot.velocity_limit[drives]
        lost = fast.any(axis=1) | ~np.isfinite(q).all(axis=1)
        ends.q[~lost], ends.v[~lost] = q[~lost], v[~lost]
        self.read(ends)
        return ends, lost


def checked_actions(actions: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return actions within -1 and 1; InvalidInputError if they are none of this shape."""
    return np.clip(as_shaped('action', actions, shape), -1.0, 1.0)


@lru_cache(maxsize=1)
def reach_task() -> ReachTask:
    """Return the task of this process: it is compiled once, and has no state."""
    return ReachTask()


SIZE = (640, 480)  # [px]
AXIS, THICKNESS = 0.2, 0.012  # of the axes of the goal [m]
WORLD = -1


def picture(state: Any, time: float) -> NDArray[np.uint8]:
    """Return a state of `reading.STATE` at a time of its episode [s], RGB, shape (480, 640, 3)."""
    goal = Pose.from_rotation_and_position(state['goal'][3:], state['goal'][:3])
    sticks = (stick(np.zeros(3), AXIS * axis, THICKNESS) for axis in np.eye(3))
    axes = [
        Shape(WORLD, *each, to_rgb(colour)).moved(goal, WORLD)
        for each, colour in zip(sticks, CYCLE, strict=False)
    ]
    recorder = Recorder(reach_task().robot, Drawing((*_robot_drawing().shapes, *axes)))
    recorder.add(time, state['q'], state['v'])
    image = ImageOps.pad(strobe_image(recorder.recording(), count=1), SIZE, color='white')
    return np.array(image)


@lru_cache(maxsize=1)
def _robot_drawing() -> Drawing:
    return urdf_drawing(reach_task().robot, resolve(URDF))
