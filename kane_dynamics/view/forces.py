# SPDX-License-Identifier: Apache-2.0
r"""
Where constraint forces act and along what: arrows for multipliers.

A row with multiplier :math:`\lambda` gives the generalized force :math:`A^T \lambda`. The force f
at the point where the constraint is, or the couple, that gives the same is that of

.. math:: J_v^T f = A^T \lambda \quad\text{or}\quad J^T w = A^T \lambda,

J the Jacobian there. No constraint is asked for its direction, so this holds for all kinds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, as_numbers, as_sequence
from kane_dynamics.robot.motion import frame_motion
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['Force', 'constraint_forces']

# what a constraint does: nothing, hold as an equation, hold by friction, slip
STATES = ('open', 'holds', 'sticks', 'slips')
ROUNDOFF = 1e-9  # of the generalized force


class Force(NamedTuple):
    """
    What a constraint does to the robot at an instant.

    Parameters
    ----------
    name : str
        Of the constraint row.
    point, vector : ndarray, shape (3,)
        Where it acts [m] and the force [N] or couple [N m], in world axes.
    state : str
        One of STATES.
    unit : str
        'N' or 'N m'.

    """

    name: str
    point: Floats
    vector: Floats
    state: str = 'holds'
    unit: str = 'N'


def constraint_forces(
    robot: Robot,
    constraints: Sequence[Constraint | Contact],
    q: ArrayLike,
    multipliers: ArrayLike,
    states: Mapping[str, str] | None = None,
    time: float = 0.0,
) -> list[Force]:
    """
    Return an arrow for each constraint row.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint or Contact
        What has the multipliers; of a contact the normal row first.
    q : array_like, shape (nq,)
        Coordinates.
    multipliers : array_like, shape (k,)
        One for each label, as of `kane_dynamics.Motion`.
    states : mapping of str to str, optional
        What a row does, by label; 'holds' where it is not named.
    time : float
        [s].

    Raises
    ------
    InvalidInputError
        If q or the number of multipliers is wrong, or something is no constraint.

    """
    q = checked_coordinates(robot, q)
    parts: list[Any] = []
    for one in as_sequence('constraints', constraints, 'constraints'):
        parts += getattr(one, 'constraints', (one,))
    labels = ConstraintSet(robot, parts).labels
    values = as_numbers('multipliers', multipliers)
    if values.shape != (len(labels),):
        raise InvalidInputError(
            f'multipliers: need shape ({len(labels)},) for {list(labels)}, got {values.shape}'
        )
    named = iter(zip(labels, values.tolist(), strict=True))
    known = as_mapping('states', states or {})
    at_rest = [0.0] * robot.nv
    forces = []
    for part in parts:
        rows = part.rows(robot, q, at_rest, time)
        for row in rows:
            label, value = next(named)
            pull = np.zeros(robot.nv)
            pull[list(row.coefficients)] = list(row.coefficients.values())
            site = _site(robot, part, q, pull)
            wrench = _wrench(*site, value * pull)
            forces.append(Force(label, *wrench[:2], known.get(label, 'holds'), wrench[2]))
    return forces


def _site(robot: Robot, part: Any, q: Any, pull: Floats) -> tuple[Floats, Floats]:
    """Return the point where a constraint acts [m] and the Jacobian (omega, v) there, (6, nv)."""
    if not hasattr(part, 'frames'):
        return _joint_site(robot, q, pull)
    if hasattr(part, 'contact_point'):
        point: Floats = part.contact_point(robot, q)
    else:
        point = _origin(robot, part.frames[-1], q)
    moved, *base = (_jacobian(robot, frame, q, point) for frame in part.frames)
    return point, moved - base[0] if base else moved


def _joint_site(robot: Robot, q: Any, pull: Floats) -> tuple[Floats, Floats]:
    """Return the site of rows on speeds: the base, or the joint of the first of these speeds."""
    column = int(np.flatnonzero(pull)[0]) if pull.any() else 0
    owners = [i for i, body in enumerate(robot.bodies) if body.mimic is None]
    body = next(i for i in owners if column in range(*robot.indices[i].v.indices(robot.nv)))
    child, parent = Frame(body, Pose.identity()), Frame(robot.parents[body], Pose.identity())
    point = _origin(robot, child, q)
    return point, _jacobian(robot, child, q, point) - _jacobian(robot, parent, q, point)


def _wrench(point: Floats, jacobian: Floats, pull: Floats) -> tuple[Floats, Floats, str]:
    """Return where a force or couple acts that gives a generalized force, it, and its unit."""
    tolerance = ROUNDOFF * float(np.abs(pull).max(initial=0.0))
    force = _least(jacobian[3:].T, pull)
    if np.abs(jacobian[3:].T @ force - pull).max(initial=0.0) <= tolerance:
        return point, force, 'N'
    wrench = _least(jacobian.T, pull)
    couple, force = wrench[:3], wrench[3:]
    size = float(force @ force)
    if size <= tolerance * tolerance:
        return point, couple, 'N m'
    return point + np.cross(force, couple) / size, force, 'N'  # on its line of action


def _least(matrix: Floats, right_side: Floats) -> Floats:
    """Return the shortest of the vectors that come nearest."""
    return np.asarray(np.linalg.lstsq(matrix, right_side, rcond=None)[0], dtype=np.float64)


def _origin(robot: Robot, frame: Frame, q: Any) -> Floats:
    position: Floats = frame_motion(robot, frame, q, [0.0] * robot.nv).pose.position()
    return position


def _jacobian(robot: Robot, frame: Frame, q: Any, point: Floats) -> Floats:
    """Return (omega, v) of the material point of a frame's body per speed, in world axes."""
    jacobian = np.zeros((6, robot.nv))
    if frame.body == WORLD:
        return jacobian
    motion = frame_motion(robot, frame, q, [0.0] * robot.nv)
    turned, arm = motion.pose.rotation_matrix(), point - motion.pose.position()
    for column, axis in motion.columns:
        omega, v = np.split(vec6(axis), 2)
        spin = turned @ omega
        jacobian[:, column] += np.concatenate([spin, turned @ v + np.cross(spin, arm)])
    return jacobian
