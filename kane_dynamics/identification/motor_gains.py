# SPDX-License-Identifier: Apache-2.0
r"""
Gains from currents to efforts, by masses that are known.

With currents i instead of efforts, :math:`W \phi + F f = g\, i`, the scale of :math:`\phi` is
unknown: phi, f and g times any number fit as well. With the parameters :math:`\phi_0` of a robot
whose masses are known, of its URDF or with a payload, g of each joint follows by least squares
from :math:`i = (W \phi_0 + F f) / g`: what the model lacks is in the currents. Of recordings with
and without a payload that is known they follow from what it adds, whatever the robot weighs.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.scalars import as_number
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import MOVING, RANK
from kane_dynamics.identification.equations import Equations, triangles_of
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.recording_checks import LOADED
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import as_mapping, index_of
from kane_dynamics.robot.inertial_parameters import inertial_parameters
from kane_dynamics.robot.text import robot_text
from kane_dynamics.safe_parsing import yaml_value
from kane_dynamics.typing import Bools, Floats

DOUBT = 0.05  # of a gain, from which its deviation is too large


class MotorGains(NamedTuple):
    """Gains of the observed speeds [N m or N a unit of current], shape (n,)."""

    values: Floats
    deviations: Floats
    in_doubt: Bools  # Whether deviations, or efforts beside those of other joints, say too little


def motor_gains(equations: Equations, samples: Sequence[Samples]) -> MotorGains:
    """Return the gains by which currents, in place of efforts, are those of the robot."""
    triangles, phi = equations.triangles(samples), inertial_parameters(equations.dynamics.robot)
    n, fits = equations.inertial, []
    for k, R in enumerate(triangles.factors):
        columns = np.column_stack([R[:, :n] @ phi, R[:, n:-1]])
        fits.append(_gain(columns, R[:, -1], triangles.counts[k]))
    gains, deviations, sizes = np.array(fits).T
    little = (sizes < LOADED * sizes.max()) | (deviations > DOUBT * np.abs(gains))
    return MotorGains(gains, deviations, little)


def payload_gains(
    equations: Equations,
    samples: Sequence[Samples],
    loaded: Sequence[Samples],
    carrying: Dynamics,
) -> MotorGains:
    """
    Return the gains by a known payload: `loaded` are samples with it, `carrying` has it too.

    What the payload adds, y, is known: of each joint i = W (phi / g) + F (f / g) + y / g, whatever
    the masses of the robot are.
    """

    def chunks() -> Iterator[Floats]:
        for part, with_payload in ((samples, False), (loaded, True)):
            for one in part:
                engines = carrying, equations.dynamics
                heavy, bare = (x.inverse_dynamics(one.q, one.v, one.a) for x in engines)
                more = equations.efforts(one, with_payload * (heavy - bare))
                rows = np.vstack([*equations.chunks([one])])
                yield np.concatenate([more[..., None], rows], axis=-1)

    width = equations.inertial + len(equations.columns) + 2
    triangles = triangles_of(chunks(), len(equations.speeds.names), width)
    pairs = zip(triangles.factors, triangles.counts, strict=True)
    fits = [_gain(R[:, :-1], R[:, -1], count) for R, count in pairs]
    gains, deviations, _ = np.array(fits).T
    return MotorGains(gains, deviations, ~(deviations < DOUBT * np.abs(gains)))


def _gain(columns: Floats, currents: Floats, count: float) -> tuple[float, float, float]:
    """Return g, its deviation, and the size of the first column, which is g times currents."""
    lengths = np.linalg.norm(columns, axis=0)
    if lengths[0] <= MOVING * lengths.max():
        return np.inf, np.inf, lengths[0]
    scales = np.where(lengths > 0.0, lengths, 1.0)
    inverse = np.linalg.pinv(columns / scales, rcond=RANK) / scales[:, None]
    solution = inverse @ currents
    gain, missed = 1.0 / solution[0], np.linalg.norm(currents - columns @ solution)
    return gain, gain**2 * missed * np.linalg.norm(inverse[0]) / np.sqrt(count), lengths[0]


def efforts_by_currents(
    dynamics: Dynamics,
    speeds: ObservedSpeeds,
    samples: Sequence[Samples],
    known: Mapping[str, float],
    loaded: tuple[Sequence[Samples], Dynamics] | None = None,
) -> tuple[Floats, list[str]]:
    """
    Return the effort of each speed by its current, shape (nv,), and where its scale is from.

    Gains of observed speeds that are not known come from the payload of `loaded`, samples and
    dynamics with it, or from the masses of the robot.
    """
    scale, names, notes = np.ones(dynamics.robot.nv), speeds.names, list[str]()
    for name, gain in known.items():
        scale[speeds.indices[index_of('joint with a gain', name, names)]] = gain
    if known:
        notes.append(f'gains of {[*known]} are known: masses have the scale of these')
    if unknown := [k for k, name in enumerate(names) if name not in known]:
        equations = Equations(dynamics, speeds, dict.fromkeys(names, MOTOR_SIDE))
        gains, deviations, in_doubt = (
            payload_gains(equations, samples, *loaded)
            if loaded
            else motor_gains(equations, samples)
        )
        source = 'payload' if loaded else 'masses of the URDF'
        if doubtful := [names[k] for k in unknown if in_doubt[k]]:
            raise InvalidInputError(
                f'gains of {doubtful} cannot be told from the {source}: give them in '
                'the file of --gains, or leave these joints out by --joints'
            )
        scale[np.array(speeds.indices)[unknown]] = gains[unknown]
        notes += [
            f"gain of '{names[k]}' is {gains[k]:.4g} +- {deviations[k]:.1g}, by the {source}"
            f'{"" if loaded else ": how heavy the robot is, is not identified"}'
            for k in unknown
        ]
    return scale, notes


def gains_of_file(file: Path | None) -> dict[str, float]:
    """Return the gains in a file, by joint; none without one."""
    if file is None:
        return {}
    text = robot_text(str(file), 'gains')
    try:
        values = yaml_value(text)
    except InvalidInputError as error:
        raise InvalidInputError(f"gains '{file}' {error}") from error
    gains = dict[str, float]()
    for name, value in as_mapping(f"gains '{file}'", values).items():
        gains[name] = as_number(f"gain of '{name}'", value)
        if not gains[name]:
            raise InvalidInputError(f"gain of '{name}': need a number that is not 0")
    return gains
