# SPDX-License-Identifier: Apache-2.0
r"""
Rolling without slipping of wheels and balls on planes: discs, round tyres, rollers on the rim.

A wheel is a circle of radius R with axis n through its centre C, a tyre of radius :math:`\rho`
around it, and touches the plane with normal k in

.. math:: P = C + R e - \rho k,

e down the disc (`contact_circle`). Without a tyre it is a thin disc; a ball is a tyre around its
centre. Rolling says that the *material* point in P is at rest; a wheel with free rollers on its
rim (mecanum, omni) binds it only along the axis of the roller that touches. Directions are those
of the track: longitudinal t, lateral :math:`k\times t`, roller at an angle between them, and
vertical along k, with the distance from the plane. A ball has x and y of the plane. Multipliers
are then contact forces on the robot [N]. C need not lie on the axis of a joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import cos, sin
from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, pure, rotate, scale, vec3
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row
from kane_dynamics.constraints.contact_circle import (
    STILL,
    BallDirections,
    PlaneDirections,
    disc_directions,
)
from kane_dynamics.constraints.contacts import GROUND, Direction, Plane, contact_rows
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.motion import frame_motion
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.typing import Floats

# parts along t and left of it
_IN_PLANE = {'longitudinal': (1.0, 0.0), 'lateral': (0.0, 1.0), 'x': (1.0, 0.0), 'y': (0.0, 1.0)}


@dataclass(frozen=True, eq=False, slots=True)
class Touch:
    """Where a wheel or a ball touches its plane, in world axes."""

    point: Floats
    axes: Floats
    directions: Floats


@dataclass(frozen=True, eq=False)
class RollingWheel:
    """Rolling without slipping of a wheel or a ball."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    wheel: Frame
    axis: Vector | None
    radius: float
    directions: tuple[str, ...]
    plane: Plane = GROUND
    tyre_radius: float = 0.0
    roller_angle: float = 0.0

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return rows <d, v_C + omega x (R e - rho k)> = 0, one for each direction d."""
        motion = frame_motion(robot, self.wheel, q, v)
        to_world = motion.pose.rotation
        turning = self._turning(to_world)
        omega = rotate(to_world, motion.twist.primary)
        arm = self._arm(turning)
        arm_rate = scale(turning.down_rate(omega), self.radius - self.tyre_radius)
        directions = self._directions(turning, omega, motion.pose.translation + arm)
        return contact_rows(motion, arm, arm_rate, directions, self.labels[0])

    @property
    def frames(self) -> tuple[Frame]:
        """Return where its forces act."""
        return (self.wheel,)

    def contact_point(self, robot: Robot, q: Any) -> Floats:
        """Return the point nearest to the plane, in the world, (3,) [m]."""
        return self.touch(robot, q).point

    def touch(self, robot: Robot, q: Any) -> Touch:
        """Return the contact point and the directions of the rows at coordinates q."""
        pose = frame_motion(robot, self.wheel, q, [0.0] * robot.nv).pose
        turning = self._turning(pose.rotation)
        point = pose.translation + self._arm(turning)
        along, normal = turning.along(STILL)[0], pure(self.plane.normal)
        axes = [vec3(x) for x in (along, cross(normal, along), normal)]
        rows = [vec3(one.vector) for one in self._directions(turning, STILL, point)]
        return Touch(vec3(point), np.array(axes), np.array(rows).reshape(-1, 3))

    def only(self, *directions: str) -> RollingWheel:
        """Return some of the rows, e.g. those along which the wheel does not slide."""
        indices = [index_of('direction', name, self.directions) for name in directions]
        labels = tuple(self.labels[k] for k in indices)
        return replace(self, labels=labels, directions=directions)

    def _turning(self, to_world: Quaternion) -> PlaneDirections:
        if self.axis is None:
            return BallDirections(self.plane)
        complaint = f"'{self.labels[0]}': the wheel lies flat, it has no lowest point"
        return disc_directions(rotate(to_world, pure(self.axis)), self.plane, complaint)

    def _arm(self, turning: PlaneDirections) -> Quaternion:
        """Return R e - rho k."""
        rim = scale(turning.down, self.radius - self.tyre_radius)
        return rim - scale(pure(self.plane.normal), self.tyre_radius)

    def _directions(
        self, turning: PlaneDirections, omega: Quaternion, contact: Quaternion
    ) -> Iterator[Direction]:
        normal = pure(self.plane.normal)
        along, along_rate = turning.along(omega)
        left, left_rate = cross(normal, along), cross(normal, along_rate)
        parts = {**_IN_PLANE, 'roller': (cos(self.roller_angle), sin(self.roller_angle))}
        for name in self.directions:
            if name == 'vertical':
                # the distance is a position; the other rows are nonholonomic
                yield Direction(normal, STILL, dot(normal, contact) - self.plane.offset)
            else:
                c, s = parts[name]
                vector = scale(along, c) + scale(left, s)
                yield Direction(vector, scale(along_rate, c) + scale(left_rate, s))
