# SPDX-License-Identifier: Apache-2.0
"""Where wheels and casters touch the ground, and how they carry a robot, by any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import cross_product
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.algorithms.newton_euler import ExternalWrenches
from kane_dynamics.analysis.contact_friction import joint_of, sliding_friction, track_slip
from kane_dynamics.analysis.normal_forces import NormalForces, ground_wrench, normal_forces
from kane_dynamics.analysis.support_polygon import SupportPolygon, polygon_of
from kane_dynamics.analysis.tip_over import TipOver, Tipping, first_to_tip, tip_over
from kane_dynamics.bases.block import TwistReach
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.contacts import Plane
from kane_dynamics.constraints.rolling import RollingWheel, Touch
from kane_dynamics.dynamics.interface import Dynamics, checked_dynamics
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_vector, index_of
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


class ContactGeometry(NamedTuple):
    """Where contacts are: points, and what touches the ground of each wheel."""

    points: list[Any]
    touches: Mapping[RollingWheel, Touch]


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """
    Wheels and casters of a robot, and how they carry it. Built by `ground_contacts`.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot under its constraints, among them rolling of the wheels.
    names : tuple of str
        Of the contacts: joints of the wheels, then casters.
    wheels : mapping of str to RollingWheel
        What rolls, by joint.
    sliding : mapping of str to RollingWheel
        Directions along which wheels slide, by joint.
    casters : mapping of str to Frame
        Points that only press.
    friction : ndarray, shape (k, 2)
        mu along and across the track of each contact; NaN where it is not known.
    stiffness : ndarray, shape (k,), or None
        Of each contact along the normal [N/m].
    normal : ndarray, shape (3,)
        Of the plane, world axes.
    reach : TwistReach
        Which twists its wheels allow; all of them where the base is not known.

    """

    dynamics: Dynamics
    names: tuple[str, ...]
    wheels: Mapping[str, RollingWheel]
    sliding: Mapping[str, RollingWheel]
    casters: Mapping[str, Frame]
    friction: Floats
    stiffness: Floats | None
    normal: Floats
    reach: TwistReach = field(default_factory=TwistReach)

    @property
    def robot(self) -> Robot:
        """Return the robot under the present gravity and payloads of the dynamics."""
        return self.dynamics.robot

    @property
    def constraints(self) -> ConstraintSet:
        """Return the constraints of the robot."""
        return self.dynamics.constraints

    def with_dynamics(self, dynamics: Dynamics) -> GroundContacts:
        """
        Return the same contacts by another engine of the same robot, e.g. from `compile`.

        Loads, margins and `wheel_forces` then follow from its machine code, and from the gravity
        and payloads that are set in it. What external wrenches and wheels that slide add is
        computed by the reference.

        Parameters
        ----------
        dynamics : Dynamics
            Under the same constraints.

        Raises
        ------
        InvalidInputError
            If it is none, or has no poses of the bodies that touch the ground (`frames`).
        ConstraintError
            If the robot or the constraints are others.

        """
        same_robot = checked_dynamics(dynamics).robot.kinematic_key == self.robot.kinematic_key
        if not same_robot or dynamics.labels != self.constraints.labels:
            raise ConstraintError('dynamics: need those of the same robot under its constraints')
        other = replace(self, dynamics=dynamics)
        _ = other._rows  # fails now rather than under way
        return other

    @cached_property
    def _bodies(self) -> tuple[int, ...]:
        """Return the bodies that touch the ground without rolling."""
        sliding = (wheel.wheel for wheel in self.sliding.values())
        frames = [*sliding, *self.casters.values()]
        return tuple(dict.fromkeys(frame.body for frame in frames))

    @cached_property
    def _rows(self) -> tuple[int, ...]:
        """Return where poses of these bodies stand among those of the dynamics."""
        frames, bodies = self.dynamics.frames, self.robot.bodies
        return tuple(index_of('frame', bodies[body].name, frames) for body in self._bodies)

    @cached_property
    def _in_plane(self) -> Floats:
        return Plane(self.normal).directions()

    @cached_property
    def part_rows(self) -> tuple[tuple[Constraint, str, slice], ...]:
        """Return the parts of the constraints, the joint of each that rolls, and their rows."""
        parts, ends = self.constraints.parts, [0]
        for part in parts:
            ends.append(ends[-1] + len(part.labels))
        joints = [joint_of(x) if isinstance(x, RollingWheel) else '' for x in parts]
        return tuple(zip(parts, joints, map(slice, ends, ends[1:]), strict=False))

    @cached_property
    def normal_rows(self) -> Mapping[str, int]:
        """Return the number of the row along the normal of each wheel that has one."""
        return {
            joint: rows.start + part.directions.index('vertical')
            for part, joint, rows in self.part_rows
            if isinstance(part, RollingWheel) and 'vertical' in part.directions
        }

    def polygon(self, q: ArrayLike) -> SupportPolygon:
        """
        Return the support polygon at coordinates q, shape (nq,).

        Raises
        ------
        InvalidInputError
            If q has another shape, or there are not three points that make a polygon.

        """
        return self.polygon_of(self.at(checked_coordinates(self.robot, q)))

    def polygon_of(self, geometry: ContactGeometry) -> SupportPolygon:
        """Return the support polygon of geometry, in numbers."""
        points = np.array(geometry.points, dtype=float)
        return polygon_of(points, self.normal, self._in_plane, self.names)

    def at(self, q: ArrayLike) -> ContactGeometry:
        """Return where the contacts are at coordinates q, by the dynamics."""
        touches, wheels = {}, self.constraints.wheels
        table = self.dynamics.wheel_touches(q) if wheels else np.zeros((0, 3))
        if not isfinite(table.sum()):
            return self.traced_at(q)  # says why
        for wheel in wheels:
            count = 4 + len(wheel.directions)
            touches[wheel] = Touch(table[0], table[1:4], table[4:count])
            table = table[count:]
        if not self._bodies:
            return self._geometry({}, touches)
        rows = self.dynamics.frame_poses(q)[..., self._rows, :].tolist()
        poses = [Pose.from_rotation_and_position(row[3:], row[:3]) for row in rows]
        return self._geometry(dict(zip(self._bodies, poses, strict=True)), touches)

    def traced_at(self, q: Any) -> ContactGeometry:
        """Return where the contacts are at coordinates q, numbers, arrays or traced."""
        poses = dict(enumerate(body_poses(self.robot, q)))
        rolling = {w: _touch(w, poses) for w in self.constraints.wheels}
        return self._geometry(poses, rolling)

    def _geometry(
        self, poses: Mapping[int, Pose], rolling: Mapping[RollingWheel, Touch]
    ) -> ContactGeometry:
        """Return where the contacts are at poses of the bodies, and touches of what rolls."""
        touches = {**rolling, **{w: _touch(w, poses) for w in self.sliding.values()}}
        points = [touches[wheel].point for wheel in self.wheels.values()]
        points += [(poses[f.body] * f.pose).position() for f in self.casters.values()]
        return ContactGeometry(points, touches)

    def wrench(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_wrenches: ExternalWrenches = None
    ) -> Floats:
        """Return `ground_wrench`; parameters as there."""
        robot, d = self.robot, self.dynamics
        if external_wrenches is not None:
            return ground_wrench(robot, q, v, a, external_wrenches)
        place = np.array(checked_coordinates(robot, q))
        speeds, rates = as_vector('v', v, robot.nv), as_vector('a', a, robot.nv)
        wrench = d.centroidal_momentum_rate(place, speeds, rates)
        wrench[3:] -= sum([body.inertia.mass for body in robot.bodies]) * robot.gravity
        wrench[:3] += cross_product(d.center_of_mass(place).tolist(), wrench[3:].tolist())
        return wrench

    def loads(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_wrenches: ExternalWrenches = None
    ) -> NormalForces:
        """Return the normal force of each contact; parameters as for `ground_wrench`."""
        wrench = self.wrench(q, v, a, external_wrenches)
        return normal_forces(self.polygon(q), wrench, self.stiffness)

    def margins(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_wrenches: ExternalWrenches = None
    ) -> TipOver:
        """Return the tip-over margins; parameters as for `ground_wrench`."""
        wrench = self.wrench(q, v, a, external_wrenches)
        return tip_over(self.polygon(q), wrench, self.dynamics.center_of_mass(q))

    def critical_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        direction: ArrayLike,
        a: ArrayLike | None = None,
        external_wrenches: ExternalWrenches = None,
    ) -> Tipping:
        """
        Return the least s >= 0 at which accelerations a + s direction lift an edge.

        Parameters
        ----------
        q, v, external_wrenches
            As for `ground_wrench`.
        direction : array_like, shape (nv,)
            Accelerations per s: of the base, with the wheels that roll with it
            (`consistent_velocity` gives them), of joints of the arm, or of both.
        a : array_like, shape (nv,), optional
            Accelerations at s = 0; zero where left out.

        Raises
        ------
        InvalidInputError
            If a shape is wrong or a number is not finite.

        """
        per_s = np.array(checked_speeds(self.robot, direction, 'direction'))
        start = np.array(checked_speeds(self.robot, 0.0 * per_s if a is None else a, 'a'))
        now = self.wrench(q, v, start, external_wrenches)
        then = self.wrench(q, v, start + per_s, external_wrenches)
        return first_to_tip(self.polygon(q), now, then - now)

    def sliding_forces(self, q: ArrayLike, v: ArrayLike, loads: ArrayLike) -> dict[str, Floats]:
        """
        Return the friction of the wheels that slide, by joint, along and across, (2,) [N].

        Parameters
        ----------
        q, v
            State.
        loads : array_like, shape (k,)
            Normal force of each contact [N].

        """
        coordinates, speeds = checked_coordinates(self.robot, q), checked_speeds(self.robot, v)
        normal = as_vector('loads [N]', loads, len(self.names))
        forces = {}
        for joint, wheel in self.sliding.items():
            k = self.names.index(joint)
            slip = track_slip(wheel, coordinates, np.array(speeds))
            forces[joint] = sliding_friction(slip, float(normal[k]), self.friction[k])
        return forces


def _touch(wheel: RollingWheel, poses: Mapping[int, Pose]) -> Touch:
    return wheel.touch_at(poses[wheel.wheel.body] * wheel.wheel.pose)
