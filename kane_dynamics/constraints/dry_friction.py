# SPDX-License-Identifier: Apache-2.0
r"""
Contacts with dry friction: what presses, what may slip, and how strongly it is held.

.. math:: 0 \le N \perp \Phi(q, t) \ge 0, \qquad
   |f| \le \mu_s N \text{ where } s = 0, \qquad f = -\mu N s/|s| \text{ where } s = A_t v - b_0
   \ne 0

The normal force N is the multiplier of a distance, or a given load where nothing lifts the contact
(a wheel of a base that moves in the plane).
"""

from dataclasses import dataclass

import numpy as np

from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import checked_constraint
from kane_dynamics.constraints.contacts import Plane, PointRows, moving_point
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_number, as_share, as_vector, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike, Floats

MOST_DIRECTIONS = 2  # along which a contact slips
_NO_DIRECTION = 1e-9  # part of a vector that lies in the plane


@dataclass(frozen=True, eq=False)
class Contact:
    """
    A contact that pushes and does not pull, with dry friction. Built by `contact`, `traction`.

    Parameters
    ----------
    normal : Constraint or None
        One row whose Phi is the distance; None where the load is given.
    tangent : Constraint or None
        Rows of the slip, one or two at right angles; None without friction.
    friction, static_friction : float
        mu of a contact that slips, and of one that sticks.
    restitution : float
        e, from 0 to 1.
    load : float
        Normal force [N] where there is no distance.

    """

    normal: Constraint | None
    tangent: Constraint | None
    friction: float
    static_friction: float
    restitution: float
    load: float

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Return its distance and its slip, as far as it has them."""
        return tuple(rows for rows in (self.normal, self.tangent) if rows is not None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of its rows, the distance first."""
        return tuple(label for rows in self.constraints for label in rows.labels)


def contact(
    normal: Constraint,
    tangent: Constraint | None = None,
    *,
    friction: float = 0.0,
    static_friction: float | None = None,
    restitution: float = 0.0,
) -> Contact:
    """
    Return a contact whose normal force is the multiplier of a distance.

    Parameters
    ----------
    normal : Constraint
        One holonomic row, Phi >= 0: `point_contact`, `joint_limit`, `holonomic`.
    tangent : Constraint, optional
        One or two rows at right angles, whose A v - b0 is the slip: `point_slip`, `pfaffian`.
    friction : float
        mu of a contact that slips.
    static_friction : float, optional
        mu of one that sticks, at least `friction`; the same where left out.
    restitution : float
        e, from 0 to 1.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or there is friction and no slip.
    ConstraintError
        If `normal` is not one row, or `tangent` not one or two.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> C.contact(C.point_contact(robot, 'base_link'), friction=0.0).restitution
    0.0

    """
    if len(checked_constraint('normal', normal).labels) != 1:
        raise ConstraintError(f'normal: need one row, got {list(normal.labels)}')
    e = as_share('restitution', restitution)
    dynamic, static = _coefficients('tangent', tangent, friction, static_friction)
    return Contact(normal, tangent, dynamic, static, e, 0.0)


def traction(
    slip: Constraint, load: float, friction: float, static_friction: float | None = None
) -> Contact:
    """
    Return rows that hold up to dry friction mu N under a given load N.

    Parameters
    ----------
    slip : Constraint
        One or two rows at right angles, e.g. those of `rolling_wheel` on a planar base.
    load : float
        N >= 0 [N].
    friction, static_friction
        As for `contact`.

    Raises
    ------
    InvalidInputError
        If a number is out of range, or `slip` is no constraint.
    ConstraintError
        If `slip` is not one or two rows.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> C.traction(C.no_side_slip(robot), load=200.0, friction=0.5).load
    200.0

    """
    checked_constraint('slip', slip)
    dynamic, static = _coefficients('slip', slip, friction, static_friction)
    return Contact(None, slip, dynamic, static, 0.0, as_nonnegative('load [N]', load))


def point_slip(
    robot: Robot,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = (0.0, 0.0, 1.0),
    direction: ArrayLike | None = None,
) -> PointRows:
    """
    Return the speeds of a point of a link along a plane of the world, in two directions or one.

    Parameters
    ----------
    robot, link, point, normal
        As for `point_contact`.
    direction : array_like, shape (3,), optional
        The only one, in world axes, for motion in a plane; brought to unit length at right angles
        to the normal.

    Raises
    ------
    NameNotFoundError, ConstraintError
        As for `point_contact`.
    InvalidInputError
        If a number is not finite, or a direction is zero.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> C.point_slip(robot, 'base_link').labels
    ('base_link/slip 0', 'base_link/slip 1')

    """
    frame, plane = moving_point(robot, link, point), Plane(normal)
    along = plane.directions() if direction is None else _in_plane(plane, direction)
    labels = tuple(f'{link}/slip {k}' for k in range(len(along)))
    return PointRows(robot, labels, (frame,), tuple((x, y, z) for x, y, z in along.tolist()))


def rolling_contact(
    rolling: RollingWheel,
    *,
    friction: float,
    static_friction: float | None = None,
    restitution: float = 0.0,
) -> Contact:
    """
    Return the contact of a wheel or ball that may lift, slip and roll again.

    Parameters
    ----------
    rolling : RollingWheel
        From `rolling_wheel` or `rolling_ball`, with its vertical row.
    friction, static_friction, restitution
        As for `contact`.

    Raises
    ------
    ConstraintError
        If nothing lifts it: give its load, see `traction`.
    InvalidInputError
        If a number is out of range.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='floating')
    >>> wheel = C.rolling_wheel(robot, 'wheel_left_joint')
    >>> C.rolling_contact(wheel, friction=0.8).restitution
    0.0

    """
    if not hasattr(rolling, 'directions'):
        raise InvalidInputError(
            f'rolling: need what rolling_wheel or rolling_ball returns, got {describe(rolling)}'
        )
    if 'vertical' not in rolling.directions:
        raise ConstraintError(f"'{rolling.labels[0]}': nothing lifts it; use traction with a load")
    others = [name for name in rolling.directions if name != 'vertical']
    return contact(
        rolling.only('vertical'),
        rolling.only(*others),
        friction=friction,
        static_friction=static_friction,
        restitution=restitution,
    )


def _in_plane(plane: Plane, direction: ArrayLike) -> Floats:
    normal, vector = np.array(plane.normal), as_vector('direction', direction, 3)
    across = vector - normal * (normal @ vector)
    length = float(np.linalg.norm(across))
    if not length > _NO_DIRECTION * float(np.linalg.norm(vector)):
        raise InvalidInputError(f'direction: need one along the plane, got {vector}')
    return np.array([across / length])


def _coefficients(
    name: str, slip: Constraint | None, friction: float, static_friction: float | None
) -> tuple[float, float]:
    dynamic = as_nonnegative('friction', friction)
    static = dynamic if static_friction is None else as_number('static_friction', static_friction)
    if static < dynamic:
        raise InvalidInputError(
            f'static_friction: need at least friction = {dynamic:g}, got {static:g}'
        )
    if slip is None:
        if static > 0.0:
            raise InvalidInputError('friction: need the rows that slip, tangent=')
    elif not 1 <= len(checked_constraint(name, slip).labels) <= MOST_DIRECTIONS:
        raise ConstraintError(f'{name}: need one or two rows, got {list(slip.labels)}')
    return dynamic, static
