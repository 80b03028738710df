# SPDX-License-Identifier: Apache-2.0
"""
Friction of motors as it was identified, in place of that of the URDF; no rclpy here.

Viscous friction is that of the speed at which a law computes; Coulomb's, Stribeck's and presliding
friction are those of the motion that is wanted. What presliding friction remembers of a motion,
callers keep.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.joint_friction import (
    KINDS,
    friction_column,
    moved_state,
    presliding_states,
)
from kane_dynamics.analysis.tracking import with_rest
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.parameters.tables import FrictionParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats, Indices

DRY = ('coulomb', 'stribeck', 'presliding')


class Presliding(NamedTuple):
    """Positions of the motors, and Dahl's states that they have left, shape (m,) each."""

    position: Floats
    state: Floats


@dataclass(frozen=True, eq=False)
class MotorFriction:
    """Coefficients of the m motors of a robot by kind, those that are not all zero."""

    v_index: Indices  # shape (m,): Of the motors
    coefficients: Mapping[str, Floats]  # shape (m,) each
    scales: Mapping[str, Floats]  # v_s and x_c, as of `FrictionTerm`
    smoothing: Floats  # shape (m,): v_0
    replaced: tuple[Floats, Floats]  # Damping and Coulomb friction of the URDF

    @classmethod
    def of(cls, model: RobotModel, parameters: Sequence[FrictionParameters]) -> 'MotorFriction':
        """Return the friction of all motors; those without a coefficient keep the URDF's."""
        v_index, robot = model.v_index(model.motors), model.robot
        values = {
            spec.field: np.array([getattr(p, spec.field) for p in parameters])
            for spec in FrictionParameters.specs
        }
        coefficients = {kind: values[kind] for kind in KINDS if values[kind].any()}
        if ((low := values['coulomb'] + values['stribeck']) < 0.0).any():
            name = model.motors[int(np.argmin(low))]
            raise InvalidInputError(f"friction of '{name}': coulomb + stribeck is below zero")
        known = np.any([*coefficients.values()], axis=0)
        return cls(
            v_index,
            coefficients,
            {'stribeck': values['stribeck_velocity'], 'presliding': values['presliding_travel']},
            values['coulomb_velocity'],
            (robot.damping[v_index] * known, robot.friction[v_index] * known),
        )

    def moved(self, before: Presliding | None, position: Floats) -> Presliding | None:
        """Return the state at a position, after that before; zero at the first."""
        if 'presliding' not in self.coefficients:
            return None
        if before is None:
            return Presliding(position, np.zeros_like(position))
        way, travel = position - before.position, self.scales['presliding']
        return Presliding(position, moved_state(before.state, way, travel))

    def states(self, positions: Floats) -> Floats:
        """Return the states along positions, zero at the first, shape (K, m)."""
        if 'presliding' not in self.coefficients:
            return np.zeros_like(positions)
        columns = zip(positions.T, self.scales['presliding'].tolist(), strict=True)
        return np.transpose([presliding_states(*column) for column in columns])

    def along(self, times: Floats, positions: Floats) -> Callable[[float], Presliding]:
        """Return the state at the last of some times, as a function of time."""
        states = self.states(positions)

        def at(time: float) -> Presliding:
            k = max(int(np.searchsorted(times, time, 'right')) - 1, 0)
            return Presliding(positions[k], states[k])

        return at

    def effort(
        self,
        terms: Collection[str],
        v: Floats,
        a: Floats,
        state: Presliding | None,
        dry: Floats | None = None,
        part: float = 1.0,
    ) -> Floats:
        """
        Return what motors take more than by the URDF, shape (..., m) [N m or N].

        A part of Coulomb's friction, at speeds `dry`; where there are none all at speeds v.
        """
        total = np.zeros((*v.shape[:-1], len(self.v_index)))
        if not self.coefficients:
            return total
        z = total if state is None else state.state
        v, a = v[..., self.v_index], a[..., self.v_index]
        dry, part = (v, 1.0) if dry is None else (with_rest(dry[..., self.v_index]), part)
        for kind, coefficients in self.coefficients.items():
            if ('inertia' if kind == 'rotor_inertia' else 'friction') in terms:
                speeds, share = (dry, part) if kind in DRY else (v, 1.0)
                unit = friction_column(kind, speeds, a, z, self.scales.get(kind), self.smoothing)
                total = total + share * coefficients * unit
        if 'friction' in terms:
            damping, coulomb = self.replaced
            total = total - damping * v - part * coulomb * np.sign(dry)
        return total
