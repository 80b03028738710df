# SPDX-License-Identifier: Apache-2.0
"""Payloads of a node: parameters that reach the dynamics at once, and a service to detach them."""

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import PayloadParameters, RobotParameters
from kane_dynamics.ros.declare_parameters import declare_for_each, present
from kane_dynamics.typing import Floats

POSES = 64
"""Poses at which it is looked whether the robot holds a payload."""
NUMBERS = 13
"""Mass, centre of mass and inertia about it."""
_UPPER = np.triu_indices(3)


class Payloads:
    """What the links of a robot carry, as the parameters of a node say."""

    def __init__(self, node: Node, parameters: RobotParameters, bounded: bool = True) -> None:
        frames: tuple[str, ...] = getattr(parameters, 'payloads', ())
        self._node, self._frames, self._bounded = node, frames, bounded
        self._ramp_time = 0.0
        self._start = self._carried = self._wanted = np.zeros((len(frames), NUMBERS))
        self._begin: int | None = None
        declare_for_each(node, PayloadParameters, '<frame>', frames)
        if isinstance(parameters, PayloadParameters):
            node.create_service(Trigger, '~/detach_payloads', self._on_detach)

    def apply(self, dynamics: Dynamics | None, ramp_time: float = 0.0) -> None:
        """Let a robot, if there is one, carry what the parameters say, from its next call on."""
        target = np.array([self._present(frame) for frame in self._frames]).reshape(-1, NUMBERS)
        if dynamics is None:
            return
        try:
            self._carry(dynamics, target)
            if self._bounded and target.any():
                check_holdable(dynamics)
        except KaneDynamicsError:
            self._carry(dynamics, self._carried)
            raise
        if not (ramp_time and np.array_equal(target, self._wanted)):  # or the ramp goes on
            self._start, self._wanted, self._begin = self._carried, target, None
            self._ramp_time = ramp_time
            self._carried = self._start if ramp_time else target
        self._carry(dynamics, self._carried)

    def advance(self, dynamics: Dynamics | None, time: int) -> None:
        """Let a robot, if there is one, carry what belongs to a time [ns], as `blended`."""
        if dynamics is None or self._carried is self._wanted:
            return
        if self._begin is None or time < self._begin:
            self._begin = time
        part = (time - self._begin) * 1e-9 / self._ramp_time
        self._carried = self._wanted
        if part < 1.0:
            pairs = zip(self._start, self._wanted, strict=True)
            self._carried = np.array([blended(a, b, part) for a, b in pairs])
        self._carry(dynamics, self._carried)

    def _carry(self, dynamics: Dynamics, numbers: Floats) -> None:
        for frame, one in zip(self._frames, numbers, strict=True):
            dynamics.carry(frame, float(one[0]), one[1:4], one[4:].reshape(3, 3))

    def in_words(self) -> dict[str, str]:
        """Return what each link that carries something carries."""
        return {
            f'payload on {frame}': f'{one[0]:g} kg at {one[1:4].tolist()} m'
            for frame, one in zip(self._frames, self._wanted, strict=True)
            if one[0]
        }

    def _present(self, frame: str) -> Floats:
        """Return the numbers of a payload as parameters say; all wait for a mass."""
        mass, com, inertia = (
            present(self._node, f'payload.{frame}.{name}') for name in ('mass', 'com', 'inertia')
        )
        if not mass:
            return np.zeros(NUMBERS)
        tensor = np.zeros((3, 3))
        tensor[_UPPER] = inertia
        tensor += np.triu(tensor, 1).T
        try:
            kd.Inertia(mass, com, tensor)
        except KaneDynamicsError as error:
            raise InvalidInputError(f'payload.{frame}: {error}') from error
        return np.r_[mass, com, tensor.ravel()]

    def _on_detach(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        names = [f'payload.{frame}.mass' for frame in self._frames]
        empty = [Parameter(name, Parameter.Type.DOUBLE, 0.0) for name in names]
        payload = ', '.join(self.in_words())
        result = self._node.set_parameters_atomically(empty)
        response.success = bool(result.successful)
        response.message = result.reason or (f'detached: {payload}' if payload else 'none')
        return response


def blended(a: Floats, b: Floats, part: float) -> Floats:
    """Return a part of b and the rest of a as one body; efforts are linear in the part."""
    masses = (1.0 - part) * a[0], part * b[0]
    mass, way = sum(masses), b[1:4] - a[1:4]
    if not mass:
        return np.zeros(NUMBERS)
    com = (masses[0] * a[1:4] + masses[1] * b[1:4]) / mass
    apart = masses[0] * masses[1] / mass * (way @ way * np.eye(3) - np.outer(way, way))
    return np.r_[mass, com, (1.0 - part) * a[4:] + part * b[4:] + apart.ravel()]


def check_holdable(dynamics: Dynamics) -> None:
    """Raise InvalidInputError where the robot can hold what it carries at none of many poses."""
    model, engine = dynamics.model, dynamics.engine
    robot, start = model.robot, model.robot.neutral()
    touched: Any = np.zeros(robot.nv, dtype=bool)
    if model.constraints:
        touched = np.any(engine.constraint_rows(start, np.zeros(robot.nv)).matrix, axis=0)
    limit = known_limits(np.asarray(robot.effort_limit))
    pairs = list(zip(model.motors, model.v_index(model.motors), strict=True))
    names = tuple([name for name, k in pairs if np.isfinite(limit[k]) and not touched[k]])
    if not names:
        return
    indices, speeds = model.q_index(names), model.v_index(names)
    low, high = (np.clip(x[indices], -np.pi, np.pi) for x in (robot.lower, robot.upper))
    q = np.tile(start, (POSES, 1))
    q[:, indices] = np.random.default_rng(0).uniform(low, high, (POSES, len(names)))
    used = np.abs(engine.gravity_force(q)[:, speeds]) / limit[speeds]
    best = int(used.max(axis=1).argmin())
    worst = int(used[best].argmax())
    if used[best, worst] > 1.0:
        asked, name = used[best, worst] * limit[speeds[worst]], names[worst]
        raise InvalidInputError(
            f'the robot cannot hold this payload at any pose: {name} needs {asked:.4g} of '
            f'{limit[speeds[worst]]:.4g} N m or N at the best of {POSES}; mass in kg, com in m?'
        )
