# SPDX-License-Identifier: Apache-2.0
r"""
What the ground bears of a motion: inequalities that are linear in its wrench and the multipliers.

Tipping over: the zero-moment point keeps a distance from each edge of the support polygon.
Pressing: every contact does, so that normal forces are linear in the wrench. Friction: the
traction of each wheel lies in a polygon inside the ellipse :math:`\mu N`, whose corners are on it,
four of them along and across the track.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kane_dynamics.control.contact_picture import tractions_of
from kane_dynamics.control.motion_limits import Reserve
from kane_dynamics.control.normal_forces import pressed_shares
from kane_dynamics.control.stance import Stance
from kane_dynamics.control.tip_over import edge_moments
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats

SIDES = 16  # of a polygon of friction: between corners it lies 1.9 % inside
_LEAST = 0.05  # of a contact's part of the weight: what bounds of friction are relative to
_NO_FRICTION = 1e-9  # mu of what is given as 0


class GroundLimits:
    """
    The inequalities of one stance.

    Parameters
    ----------
    contacts : Stance
        What the robot stands on.
    kept : Reserve
        What is left of the limits.

    Attributes
    ----------
    names : tuple of str
        Of the inequalities.

    Raises
    ------
    InvalidInputError
        If wheels slide: what rubs them is not linear in the motion.

    """

    def __init__(self, contacts: Stance, kept: Reserve) -> None:
        if contacts.sliding:
            raise InvalidInputError(
                f'retiming: wheels {sorted(contacts.sliding)} slide; give a stance without sliding'
            )
        robot = contacts.robot
        self.contacts, self.kept = contacts, kept
        mass = sum(body.inertia.mass for body in robot.bodies)
        self.weight = float(mass * np.linalg.norm(robot.gravity))
        pairs = zip(contacts.names, contacts.friction.tolist(), strict=True)
        known = [name for name, friction in pairs if np.isfinite(friction).all()]
        self.held = [name for name in contacts.wheels if name in known]
        angles = 2.0 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
        self._sides = np.stack([np.cos(angles), np.sin(angles)]) / np.cos(np.pi / SIDES)
        edges = contacts.polygon(robot.neutral()).edges
        self.names = (
            *(f'tip-over over {one} - {other}' for one, other in edges),
            *(f'load of {name}' for name in contacts.names),
            *(f'friction of {name}' for name in self.held for _ in range(SIDES)),
        )

    def at(self, q: Sequence[float], still: Floats) -> tuple[Floats, Floats]:
        """
        Return W and L of 1 + W w + L lambda <= 1, shapes (m, 6) and (m, k).

        Parameters
        ----------
        q : sequence of float
            Coordinates, checked.
        still : ndarray, shape (6,)
            Wrench of the ground on the robot at rest; bounds are relative to what it loads.

        """
        contacts, kept = self.contacts, self.kept
        polygon = contacts.polygon(q)
        moments = np.array([edge_moments(polygon, one) for one in np.eye(6)]).T
        total = np.concatenate([np.zeros(3), polygon.normal])
        arms = polygon.ends - polygon.middle
        size = float(np.sum(-arms * polygon.inward, axis=1).min())
        shares = pressed_shares(polygon, contacts.stiffness)
        part = self.weight / len(contacts.names)
        rows = len(contacts.constraints.labels)
        of_wrench = [-(moments - kept.edge * total) / (size * self.weight), -shares / part]
        of_rows = [np.zeros((len(moments) + len(shares), rows))]
        pulls = tractions_of(contacts, q, np.eye(rows))
        for name in self.held:
            k = contacts.names.index(name)
            axes = contacts.wheels[name].touch(contacts.robot, q).axes[:2]
            along = pulls[name] @ axes.T / np.maximum(contacts.friction[k], _NO_FRICTION)
            load = kept.friction * max(float(shares[k] @ still), _LEAST * part)
            of_wrench.append(np.tile(-kept.friction * shares[k] / load, (SIDES, 1)))
            of_rows.append((along @ self._sides).T / load)
        return np.concatenate(of_wrench), np.concatenate(of_rows)
