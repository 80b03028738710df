# SPDX-License-Identifier: Apache-2.0
r"""
The same robot in body frames that make its constants sparse.

Where a URDF puts the frame of a body that turns about an axis is arbitrary: any frame with its
origin on the axis will do, and every quantity in joint space stays what it is. Here the frames are
chosen in the manner of the modified Denavit-Hartenberg convention (Khalil and Kleinfinger; Craig),
from the tips to the root:

- z along the axis of the joint;
- x along the common normal of this axis and that of the chief child, which has the most bodies
  behind it; where they are parallel, from one to the other at a right angle;
- origin at the foot of the perpendicular from the chief child's origin. The convention has the
  foot of the common normal, which runs off to infinity as axes become parallel and leaves the
  child at three coordinates instead of two;
- on a tip, x through the centre of mass, and the origin at its foot;
- where the chief child is on a joint of another kind, x as near as it gets to an axis of its
  frame, which y is then square to, and the origin stays.

So a chief child is placed by a turn about x and a shift (a, b, 0). The angle from the joint's x to
the body's at q = 0 is added to the coordinate.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.algebra.scalars import is_number
from kane_dynamics.robot.body import Body, Joint, Mimic
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import Floats

# Entries below this part of the size of their kind are set to zero. Roundoff of the products that
# make them is a few 1e-16; a true entry of 1e-14, if there is one, moves results by as much, which
# is what the roundoff of the entries beside it does.
_ROUNDOFF = 1e-14
# A vector of which less than this part is square to an axis is taken as along the axis.
_NO_DIRECTION = 1e-9


class FrameInBody(NamedTuple):
    """Axes (columns, shape (3, 3)) and origin (shape (3,)) of a frame in another one."""

    axes: Floats
    origin: Floats


_GIVEN = FrameInBody(np.eye(3), np.zeros(3))


class _Placement(NamedTuple):
    """Where a joint is in the parent's new frame, and what its coordinate turns more [rad]."""

    pose: Pose
    turn: float


def canonical_frames(robot: Robot, *, ahead: bool = True) -> tuple[Robot, Floats]:
    """
    Return the robot in other body frames, and what is added to its coordinates.

    Dynamics in joint space are the same: f(robot, q, v, ...) = f(new, q + offsets, v, ...) for
    M, C, g, efforts, accelerations and both energies. Bodies on revolute joints get new frames,
    all others keep theirs. Poses, twists and wrenches of bodies are in the new frames; frames
    that the robot names besides its bodies and wheel radii are left out.
    """
    frames = body_frames(robot)
    placements = [_placement(robot, i, frames, ahead) for i in range(len(robot.bodies))]
    turns = {
        body.joint.name: placement.turn
        for body, placement in zip(robot.bodies, placements, strict=True)
    }
    bodies, offsets = [], np.zeros(robot.nq)
    for i, body in enumerate(robot.bodies):
        bodies.append(
            replace(
                body,
                joint=_joint(body.joint, placements[i].turn),
                placement=placements[i].pose,
                inertia=inertia_in(body.inertia, frames[i]),
                mimic=_mimic(body, turns),
            )
        )
        if body.mimic is None:
            offsets[robot.indices[i].q] = placements[i].turn
    return Robot(robot.name, bodies, robot.gravity), offsets


def body_frames(robot: Robot) -> list[FrameInBody]:
    """Return the new frame of every body in its given one."""
    frames = [_GIVEN] * len(robot.bodies)
    chief = _chief_children(robot)
    for i in reversed(range(len(robot.bodies))):
        body, child = robot.bodies[i], chief[i]
        if isinstance(body.joint.kind, Revolute):
            z = np.array(body.joint.kind.axis)
            if child is None:
                frames[i] = _frame_on_axis(z, body, child, _GIVEN)
            else:
                frames[i] = _frame_on_axis(z, body, robot.bodies[child], frames[child])
    return frames


def _chief_children(robot: Robot) -> list[int | None]:
    """Return the child of every body with the most bodies behind it, None for tips."""
    count = len(robot.bodies)
    chief: list[int | None] = [None] * count
    size = [1] * count
    for i in reversed(range(count)):
        parent = robot.parents[i]
        if parent == WORLD:
            continue
        size[parent] += size[i]
        known = chief[parent]
        if known is None or size[i] >= size[known]:
            chief[parent] = i
    return chief


def _frame_on_axis(
    z: Floats, body: Body, child: Body | None, new_child: FrameInBody
) -> FrameInBody:
    """Return the new frame of a body that turns about z, given its chief child."""
    if child is None:
        hanging = x = body.inertia.com
    else:
        R, p = child.placement.rotation_matrix(), child.placement.position()
        if isinstance(child.joint.kind, Revolute):
            hanging = p + R @ new_child.origin
            x = np.cross(z, R @ new_child.axes[:, 2])
            if np.linalg.norm(x) < _ROUNDOFF:
                x = hanging
        else:
            hanging, x = np.zeros(3), R @ beside(cleaned(R.T @ z))
    x = _square_to(z, x)
    return FrameInBody(np.column_stack([x, np.cross(z, x), z]), (hanging @ z) * z)


def _square_to(z: Floats, x: Floats) -> Floats:
    """Return the direction of the part of x that is square to z, largest entry > 0."""
    across = x - (x @ z) * z
    if np.linalg.norm(across) <= _NO_DIRECTION * np.linalg.norm(x):
        return beside(z)
    across = across / np.linalg.norm(across)
    across = across - (across @ z) * z  # a short one is not yet square to z
    largest = across[np.argmax(np.abs(across))]
    return across / (np.linalg.norm(across) * np.sign(largest))


def _placement(robot: Robot, i: int, frames: list[FrameInBody], ahead: bool) -> _Placement:
    """Return where a joint is in the parent's new frame, with sparse axes."""
    import quaternion  # with scipy.interpolate, which code from the cache does without

    body, new = robot.bodies[i], frames[i]
    parent = _GIVEN if robot.parents[i] == WORLD else frames[robot.parents[i]]
    if parent is _GIVEN and new is _GIVEN:
        return _Placement(body.placement, 0.0)
    R, p = body.placement.rotation_matrix(), body.placement.position()
    moved = p + R @ new.origin - parent.origin
    size = max(np.abs(x).max() for x in (p, new.origin, parent.origin))
    position = cleaned(parent.axes.T @ moved, size)
    at_zero = parent.axes.T @ R @ new.axes  # of the body, at q = 0
    turn = 0.0
    axes = at_zero
    if ahead and new is not _GIVEN:
        z = cleaned(at_zero[:, 2])
        x = beside(z)
        axes = np.column_stack([x, np.cross(z, x), z])
        turn = float(np.arctan2(axes[:, 1] @ at_zero[:, 0], axes[:, 0] @ at_zero[:, 0]))
        turn = turn if abs(turn) > _ROUNDOFF else 0.0
    rotation = quaternion.from_rotation_matrix(cleaned(axes), nonorthogonal=False)
    return _Placement(Pose(rotation, pure(position)), turn)


def _joint(joint: Joint, turn: float) -> Joint:
    """Return a joint whose axis is z and whose coordinate is ahead by a turn."""
    if not isinstance(joint.kind, Revolute):
        return joint
    lower, upper = joint.lower + turn, joint.upper + turn
    return replace(joint, kind=Revolute((0.0, 0.0, 1.0)), lower=lower, upper=upper)


def inertia_in(inertia: Inertia, new: FrameInBody) -> Inertia:
    """Return mass properties in the new frame."""
    if new is _GIVEN:
        return inertia
    com = new.axes.T @ (inertia.com - new.origin)
    tensor = new.axes.T @ inertia.tensor @ new.axes
    if is_number(inertia.mass):
        size = max(np.abs(inertia.com).max(), np.abs(new.origin).max())
        com, tensor = cleaned(com, size), cleaned(tensor, np.abs(inertia.tensor).max())
    return Inertia.of(inertia.mass, com, tensor)


def _mimic(body: Body, turns: dict[str, float]) -> Mimic | None:
    """Return how a joint follows its master in the new coordinates x + turn of both."""
    if body.mimic is None:
        return None
    master, ratio, offset = body.mimic.master, body.mimic.ratio, body.mimic.offset
    return Mimic(master, ratio, offset + turns[body.joint.name] - ratio * turns[master])


def beside(z: Floats) -> Floats:
    """Return the unit vector square to z that is nearest to a coordinate axis."""
    k = int(np.argmin(np.abs(z)))
    x = np.eye(3)[k] - z[k] * z
    return x / np.linalg.norm(x)


def cleaned(entries: Floats, size: float = 1.0) -> Floats:
    """Return the entries, those that are roundoff beside `size` exactly zero."""
    return np.where(np.abs(entries) > _ROUNDOFF * size, entries, 0.0)
