# SPDX-License-Identifier: Apache-2.0
"""Ground contacts of a robot: wheels, from their constraint rows, and casters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.algorithms.newton_euler import ExternalWrenches
from kane_dynamics.analysis.contact_friction import (
    common_normal,
    friction_pair,
    joint_of,
    parts_of,
    placed_casters,
    sliding_friction,
    spring_array,
    track_slip,
)
from kane_dynamics.analysis.normal_forces import (
    NormalForces,
    TipOver,
    Tipping,
    first_to_tip,
    ground_wrench,
    normal_forces,
    tip_over,
)
from kane_dynamics.analysis.support_polygon import SupportPolygon, support_polygon
from kane_dynamics.bases.block import TwistReach
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.constraints.wheels import NoSideSlip
from kane_dynamics.dynamics.functions import center_of_mass
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.body import check_unique
from kane_dynamics.robot.checks import as_one, as_several, as_vector
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """
    Wheels and casters of a robot, and how they carry it. Built by `ground_contacts`.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : ConstraintSet
        Its constraints, among them rolling of the wheels.
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

    robot: Robot
    constraints: ConstraintSet
    names: tuple[str, ...]
    wheels: Mapping[str, RollingWheel]
    sliding: Mapping[str, RollingWheel]
    casters: Mapping[str, Frame]
    friction: Floats
    stiffness: Floats | None
    normal: Floats
    reach: TwistReach = field(default_factory=TwistReach)

    def polygon(self, q: ArrayLike) -> SupportPolygon:
        """
        Return the support polygon at coordinates q, shape (nq,).

        Raises
        ------
        InvalidInputError
            If q has another shape, or there are not three points that make a polygon.

        """
        points = self.contact_points(checked_coordinates(self.robot, q))
        return support_polygon(np.array(points, dtype=float), self.normal, self.names)

    def contact_points(self, q: Any) -> list[Any]:
        """Return where each contact touches the ground at q, numbers or traced, [m]."""
        bodies = body_poses(self.robot, q)
        touched = [wheel.touch(self.robot, q).point for wheel in self.wheels.values()]
        return touched + [(bodies[f.body] * f.pose).position() for f in self.casters.values()]

    def loads(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_wrenches: ExternalWrenches = None
    ) -> NormalForces:
        """Return the normal force of each contact; parameters as for `ground_wrench`."""
        wrench = ground_wrench(self.robot, q, v, a, external_wrenches)
        return normal_forces(self.polygon(q), wrench, self.stiffness)

    def margins(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_wrenches: ExternalWrenches = None
    ) -> TipOver:
        """Return the tip-over margins; parameters as for `ground_wrench`."""
        wrench = ground_wrench(self.robot, q, v, a, external_wrenches)
        return tip_over(self.polygon(q), wrench, center_of_mass(self.robot, q))

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
        now = ground_wrench(self.robot, q, v, start, external_wrenches)
        then = ground_wrench(self.robot, q, v, start + per_s, external_wrenches)
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


def ground_contacts(
    robot: Robot,
    constraints: Sequence[Constraint],
    *,
    casters: Mapping[str, tuple[str, ArrayLike]] | None = None,
    friction: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    stiffness: Mapping[str, float] | None = None,
    sliding: Sequence[RollingWheel] = (),
) -> GroundContacts:
    """
    Return what a robot stands on: loads, margins and friction follow from it.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Of the robot; those of wheels and balls say where it touches the ground. The side force of
        `no_side_slip`, also in `differential_drive`, is shared evenly by the wheels without a
        lateral row, by all if each has one. Forces of other rows count, but are no wheel's.
    casters : mapping of str to (str, array_like), optional
        Massless casters without friction, by name: a frame and the point, in its axes [m], where
        it touches the ground.
    friction : float, (float, float), or mapping of str to these, optional
        mu, or mu along and across the track, of all contacts or by name.
    stiffness : mapping of str to float, optional
        Of suspension and tyre of each contact along the normal [N/m].
    sliding : sequence of RollingWheel
        Directions along which wheels slide against dry friction instead of rolling, e.g.
        ``rolling_wheel(...).only('lateral')`` of the wheels of a skid steer.

    Raises
    ------
    NameNotFoundError
        If a frame or contact does not exist.
    InvalidInputError
        If a number is not finite, negative, or missing (friction of what slides, stiffness of one
        contact); or two contacts have one name.
    ConstraintError
        If a side force has no wheel to act on, a wheel both rolls and slides along a direction, or
        wheels stand on planes with different normals.

    """
    several = ConstraintSet.of(robot, constraints)
    parts = parts_of(several)
    rolling = [part for part in parts if isinstance(part, RollingWheel)]
    slides = {joint_of(wheel): wheel for wheel in as_several(RollingWheel, 'sliding', sliding)}
    for joint, wheel in slides.items():
        both = sorted(set(wheel.labels) & set(several.labels))
        if both:
            raise ConstraintError(f"wheel '{joint}' rolls and slides along the same: {both}")
    if not rolling and any(isinstance(part, NoSideSlip) for part in parts):
        raise ConstraintError('the force of no_side_slip has no wheel to act on, none rolls')
    on_joints = {joint_of(wheel): wheel for wheel in rolling}
    wheels = on_joints | {joint: slides[joint] for joint in slides if joint not in on_joints}
    placed = placed_casters(robot, casters)
    names = (*wheels, *placed)
    check_unique('contact', names)
    coefficients = np.array([friction_pair(name, friction, names) for name in names])
    unknown = [name for name in slides if np.isnan(coefficients[names.index(name)]).any()]
    if unknown:
        raise InvalidInputError(f'friction: need that of wheels that slide, {unknown}')
    return GroundContacts(
        robot,
        several,
        names,
        wheels,
        slides,
        placed,
        coefficients.reshape(-1, 2),
        None if stiffness is None else spring_array(stiffness, names),
        common_normal(wheels),
    )


def base_ground_contacts(
    base: WheeledBase,
    *,
    friction: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    stiffness: Mapping[str, float] | None = None,
) -> GroundContacts:
    """
    Return what a mobile base stands on, see `ground_contacts`.

    Its supports are the contacts 'support 0', 'support 1', ...; wheels of a skid steer slide
    across their track.

    Parameters
    ----------
    base : WheeledBase
        From `bases.differential`, `bases.mecanum`, ...
    friction, stiffness
        As for `ground_contacts`.

    Raises
    ------
    NameNotFoundError, InvalidInputError, ConstraintError
        As for `ground_contacts`; or if `base` is none.

    """
    as_one(WheeledBase, 'base', base, 'what bases.differential etc. return')
    body = base.robot.bodies[0].name
    skids = base.kind == 'skid_steer'
    rolling = [one for one in base.constraints if isinstance(one, RollingWheel)]
    fixed = {wheel.joint for wheel in base.wheels if wheel.kind == 'fixed' and skids}
    stands = ground_contacts(
        base.robot,
        base.constraints,
        casters={f'support {k}': (body, point) for k, point in enumerate(base.supports)},
        friction=friction,
        stiffness=stiffness,
        sliding=[
            replace(one, labels=(f'{joint_of(one)}/lateral',), directions=('lateral',))
            for one in rolling
            if joint_of(one) in fixed
        ],
    )
    return replace(stands, reach=TwistReach(base))
