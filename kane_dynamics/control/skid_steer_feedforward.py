# SPDX-License-Identifier: Apache-2.0
"""A skid-steer base in the effort law: how its wheels turn it, and what friction costs."""

import numpy as np

from kane_dynamics.analysis.skid_friction import SkidFriction
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

_ROOT = PlanarFrame()


class SkidSteerFeedforward:
    """Motion and friction of one base."""

    def __init__(self, model: RobotModel, base: WheeledBase) -> None:
        self._base, self._actuated = base, model.actuated
        self.wheels = model.v_index((*base.driven, *base.passive))
        self._driven = model.v_index(base.driven)
        # twist of each wheel's unit rate: a base that skids has nothing that changes it
        self._per_rate = base.twist(np.eye(len(base.driven))).twist
        self._friction: SkidFriction | None = None
        self._mu: tuple[float, ...] = ()

    def configure(self, friction: tuple[float, ...]) -> None:
        """Take over mu along and across the track; where one is 0 it is not known."""
        if friction == self._mu:  # other parameters changed; this takes a third of a second
            return
        known, self._mu = all(mu > 0.0 for mu in friction), friction
        self._friction = SkidFriction(self._base, friction, self._actuated) if known else None

    def base_motion(
        self, q: Floats, v: Floats, a: Floats, turning: float | None = None
    ) -> tuple[Floats, Floats]:
        """Return speeds and accelerations of the base, (3,) each, to which its wheels drive it."""
        twist, rate = v[self._driven] @ self._per_rate, a[self._driven] @ self._per_rate
        speeds = _ROOT.root_velocity(q, twist)
        # a twist is of moving axes: its turning is an acceleration too
        yaw = twist[2] if turning is None else turning
        inertial = rate + yaw * np.array([-twist[1], twist[0], 0.0])
        return speeds, _ROOT.root_acceleration(q, speeds, inertial)

    def effort(self, q: Floats, v: Floats, a: Floats) -> Floats | None:
        """Return the efforts on v that friction costs, (nv,); None where it is not known."""
        return None if self._friction is None else self._friction.effort(q, v, a)
