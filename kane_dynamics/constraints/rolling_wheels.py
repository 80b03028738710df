# SPDX-License-Identifier: Apache-2.0
"""Builders of rolling: wheels with or without a round tyre, wheels with rollers, balls."""

from collections.abc import Sequence

import numpy as np

from kane_dynamics.constraints.contacts import GROUND, Plane
from kane_dynamics.constraints.rolling import Circle, RollingWheel, ball_circle, wheel_circle
from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike

_FITS = 1e-4  # [radii] between a contact that nothing lifts and its plane, above printed digits


def rolling_wheel(
    robot: Robot,
    joint: str,
    radius: float | None = None,
    axis: Sequence[float] | None = None,
    centre: ArrayLike | None = None,
    *,
    plane: Plane = GROUND,
    tyre_radius: float = 0.0,
) -> RollingWheel:
    """
    Return rolling without slipping of the wheel that a joint carries.

    Rows: longitudinal and lateral, and vertical where the wheel could leave the plane. The wheel
    is the circle in the middle of the collision cylinder, wherever it stands. With a `radius` of
    a wheel on a revolute joint it is the circle of that radius about the joint's axis, in the same
    plane (of the joint's frame where the URDF has no such shape). A sphere is a disc here, see
    `rolling_ball` for wheels that lean on one.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the wheel's revolute joint; or of a free (6-DoF) or spherical joint, 'base' for a
        floating base: a coin or a disc.
    radius : float, optional
        Of its outermost circle [m]; from the URDF's collision cylinder or
        sphere where left out.
    axis : array_like, shape (3,), optional
        Axis of a wheel on a free or spherical joint, in the frame of the body; from its collision
        cylinder where left out.
    centre : array_like, shape (3,), optional
        Centre of the wheel in the frame of the body [m]; else as said above.
    plane : Plane
        What it rolls on; the ground where left out.
    tyre_radius : float
        Radius of a round tyre's cross-section, a torus around a circle of radius `radius` -
        `tyre_radius` [m]; 0 for a thin disc.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    InvalidInputError
        If `axis` or `centre` is not three finite numbers, `plane` is none, or `tyre_radius` is
        not between 0 and the radius.
    ConstraintError
        If the joint is of another kind, its axis is along the plane's normal wherever it moves,
        the radius is not positive, radius or axis is not known, the wheel is eccentric and cannot
        lift its hub, or robot and plane do not go together.

    Warns
    -----
    ModelWarning
        Where the collision shape of a revolute joint is not centred in the joint's frame.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> rows = [C.rolling_wheel(robot, f'wheel_{side}_joint') for side in ('left', 'right')]
    >>> found = kd.independent_rows(robot, robot.neutral(), rows)
    >>> sum(len(row.labels) for row in rows), found.independent_indices.size  # of one axle
    (4, 3)

    """
    circle = wheel_circle(robot, joint, radius, axis, centre, plane)
    rho = as_nonnegative('tyre_radius [m]', tyre_radius)
    if not rho < circle.radius:
        raise InvalidInputError(
            f'tyre_radius [m]: need less than the radius {circle.radius:g}, got {rho:g}; see '
            'rolling_ball for a tyre without a hole'
        )
    return _rolling(
        robot, joint, circle, ('longitudinal', 'lateral'), plane=plane, tyre_radius=rho
    )


def roller_wheel(
    robot: Robot,
    joint: str,
    angle: float,
    radius: float | None = None,
    centre: ArrayLike | None = None,
    *,
    plane: Plane = GROUND,
) -> RollingWheel:
    """
    Return rolling of a wheel with free rollers on its rim: mecanum and omni (Swedish) wheels.

    Rows: along the axis of the roller that touches the plane, and vertical where the wheel could
    leave it. Across its axis the roller rolls freely; its spin is no speed of the robot. The wheel
    is a thin disc whose contact is below its centre.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the wheel's revolute joint.
    angle : float
        Of the axis of the roller that touches the plane, from the wheel's longitudinal direction,
        counterclockwise seen from the plane's free side [rad]: 0 for omni wheels, +-pi/4 for most
        mecanum wheels. It is the same for a wheel axis that points the other way.
    radius, centre, plane
        As for `rolling_wheel`.

    Raises
    ------
    NameNotFoundError, ConstraintError
        As for `rolling_wheel`.
    InvalidInputError
        If `angle` or `centre` is not finite, or `plane` is none.

    Warns
    -----
    ModelWarning
        As `rolling_wheel`.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> C.roller_wheel(robot, 'wheel_left_joint', angle=np.pi / 4).labels
    ('wheel_left_joint/roller',)

    """
    turned = as_number('angle [rad]', angle)
    circle = wheel_circle(robot, joint, radius, None, centre, plane)
    return _rolling(robot, joint, circle, ('roller',), plane=plane, roller_angle=turned)


def rolling_ball(
    robot: Robot,
    joint: str,
    radius: float | None = None,
    centre: ArrayLike | None = None,
    *,
    plane: Plane = GROUND,
) -> RollingWheel:
    """
    Return rolling without slipping of the ball that a joint carries.

    Rows: along x and y of the plane (of the world for the ground), and vertical where the ball
    could leave it.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the joint, e.g. a free (6-DoF) one, 'base' for a floating base, or a spherical one.
    radius : float, optional
        [m]; from the URDF's collision sphere where left out.
    centre : array_like, shape (3,), optional
        Centre of the ball in the frame of the body [m]; that of the collision sphere, or else the
        origin, where left out.
    plane : Plane
        What it rolls on; the ground where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    InvalidInputError
        If `centre` is not three finite numbers, or `plane` is none.
    ConstraintError
        If the radius is not positive or none is known, or robot and plane do not go together.

    """
    circle = ball_circle(robot, joint, radius, centre, plane)
    return _rolling(robot, joint, circle, ('x', 'y'), plane=plane)


def _rolling(
    robot: Robot,
    joint: str,
    circle: Circle,
    directions: tuple[str, ...],
    plane: Plane,
    **more: float,
) -> RollingWheel:
    """Return the rows of directions in the plane, and the vertical one where it is needed."""
    if circle.lifts:
        directions += ('vertical',)
    labels = tuple(f'{joint}/{name}' for name in directions)
    wheel = RollingWheel(
        robot, labels, circle.frame, circle.axis, circle.radius, directions, plane, **more
    )
    if not circle.lifts and plane.offset:
        _check_height(wheel, joint)
    return wheel


def _check_height(wheel: RollingWheel, joint: str) -> None:
    """Refuse the offset of a plane that a wheel can never touch."""
    point = wheel.contact_point(wheel.robot, wheel.robot.neutral().tolist())
    height = float(np.dot(wheel.plane.normal, point))
    if abs(height - wheel.plane.offset) > _FITS * wheel.radius:
        raise ConstraintError(
            f"wheel '{joint}' touches a plane of offset {height:.6g} m, and nothing lifts it; got "
            f'offset {wheel.plane.offset:.6g} m'
        )
