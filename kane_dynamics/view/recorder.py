# SPDX-License-Identifier: Apache-2.0
"""Records a motion, state by state."""

from collections.abc import Callable, Sequence

import numpy as np

from kane_dynamics.algebra.quaternions import vec4
from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import check_unique
from kane_dynamics.robot.checks import as_choice, as_number, as_positive, as_text
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.simulation.motions import Trajectory
from kane_dynamics.typing import ArrayLike, Floats, Indices
from kane_dynamics.view.drawing import Drawing, simple_drawing
from kane_dynamics.view.forces import STATES, Force
from kane_dynamics.view.recording import Recording

__all__ = ['Recorder', 'record']

ForceLaw = Callable[[float, Floats, Floats], Sequence[Force]]


class Recorder:
    """
    Records the states of a motion one after the other.

    Parameters
    ----------
    robot : Robot
        The robot.
    drawing : Drawing, optional
        What it looks like; `simple_drawing` where left out.

    """

    def __init__(self, robot: Robot, drawing: Drawing | None = None) -> None:
        self._robot = checked_robot(robot)
        self._drawing = simple_drawing(robot) if drawing is None else drawing
        self._states: list[tuple[float, Floats, Floats, Floats]] = []
        self._forces: list[dict[str, Force]] = []
        self._units: dict[str, str] = {}
        self._events: list[tuple[float, str]] = []

    def add(self, time: float, q: ArrayLike, v: ArrayLike, forces: Sequence[Force] = ()) -> None:
        """
        Add a state.

        Parameters
        ----------
        time : float
            [s], not before the last one.
        q, v : array_like, shapes (nq,), (nv,)
            State.
        forces : sequence of Force
            What constraints do; one that is not named is open.

        Raises
        ------
        InvalidInputError
            If time falls, a shape is wrong, a number is not finite, a force has an unknown
            state, or two have one name.

        """
        t = as_number('time [s]', time)
        if self._states and t < self._states[-1][0]:
            raise InvalidInputError(f'time [s]: need at least {self._states[-1][0]}, got {t}')
        coordinates = np.array(checked_coordinates(self._robot, q))
        speeds = np.array(checked_speeds(self._robot, v))
        check_unique('force', [force.name for force in forces])
        for force in forces:
            as_choice(f"state of '{force.name}'", force.state, STATES)
            self._units.setdefault(force.name, force.unit)
        self._states.append((t, coordinates, speeds, pose_rows(self._robot, coordinates)))
        self._forces.append({force.name: force for force in forces})

    def event(self, time: float, text: str) -> None:
        """Note what happened at a time [s]; InvalidInputError if it is none."""
        self._events.append((as_number('time [s]', time), as_text('text', text)))

    def recording(self) -> Recording:
        """Return the recording; InvalidInputError if there is no state."""
        if not self._states:
            raise InvalidInputError('nothing has been recorded: call add first')
        robot, names, n = self._robot, tuple(self._units), len(self._states)
        time, q, v, poses = (np.array(x) for x in zip(*self._states, strict=True))
        points, vectors = np.zeros((2, n, len(names), 3))
        states = np.zeros((n, len(names)), dtype=np.int8)
        for i, forces in enumerate(self._forces):
            for k, name in enumerate(names):
                if name in forces:
                    points[i, k], vectors[i, k] = forces[name].point, forces[name].vector
                    states[i, k] = STATES.index(forces[name].state)
        return Recording(
            robot.name,
            time,
            robot.coordinate_names,
            q,
            robot.velocity_names,
            v,
            tuple(body.name for body in robot.bodies),
            poses,
            self._drawing.shapes,
            names,
            tuple(self._units.values()),
            points,
            vectors,
            states,
            np.array([t for t, _ in self._events]),
            tuple(text for _, text in self._events),
        )


def record(
    robot: Robot,
    motion: Trajectory,
    forces: ForceLaw | None = None,
    drawing: Drawing | None = None,
    rate: float = 50.0,
) -> Recording:
    """
    Return a recording of a simulated motion.

    Parameters
    ----------
    robot : Robot
        The robot.
    motion : Trajectory
        From `simulate`.
    forces : callable, optional
        forces(t, q, v) -> what constraints do, e.g. from `constraint_forces`.
    drawing : Drawing, optional
        What the robot looks like.
    rate : float
        Instants a second that are kept [Hz]; the first and the last always.

    Raises
    ------
    InvalidInputError
        If the rate is not positive or the motion is of another robot.

    Examples
    --------
    >>> from kane_dynamics.view.recorder import record
    >>> robot = kd.serial_chain(2)
    >>> motion = kd.simulate(robot, np.zeros(2), np.zeros(2), 0.1, step=1e-2)
    >>> record(robot, motion).q.shape
    (6, 2)

    """
    recorder = Recorder(robot, drawing)
    for i in kept_instants(motion.time, rate):
        t, q, v = float(motion.time[i]), motion.q[i], motion.v[i]
        recorder.add(t, q, v, () if forces is None else forces(t, q, v))
    return recorder.recording()


def kept_instants(time: Floats, rate: float) -> Indices:
    """Return which of increasing times [s] are kept at a rate [Hz]: first and last always."""
    period = max(1.0 / as_positive('rate [Hz]', rate), float(np.ptp(time)) / len(time))
    instants = np.append(np.arange(time[0], time[-1], period), time[-1])
    return np.unique(np.searchsorted(time, instants - 1e-9))


def pose_rows(robot: Robot, q: Floats) -> Floats:
    """Return position [m] and (w, x, y, z) of each body in the world, shape (b, 7)."""
    poses = body_poses(robot, q.tolist())
    rows = [np.concatenate([pose.position(), vec4(pose.rotation)]) for pose in poses]
    return np.array(rows, dtype=float).reshape(-1, 7)
