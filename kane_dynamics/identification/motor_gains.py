# SPDX-License-Identifier: Apache-2.0
r"""
Gains from currents to efforts, by masses that are known.

With currents i instead of efforts, :math:`W \phi + F f = g\, i`, the scale of :math:`\phi` is
unknown: phi, f and g times any number fit as well. With the parameters :math:`\phi_0` of a robot
whose masses are known, of its URDF or with a payload, g of each joint follows by least squares
from :math:`i = (W \phi_0 + F f) / g`: what the model lacks is in the currents.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.scalars import as_number
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.equations import Equations
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
    gains, deviations, sizes = np.zeros((3, len(triangles.factors)))
    for k, (name, R) in enumerate(zip(equations.speeds.names, triangles.factors, strict=True)):
        terms = [i for i, (speed, _) in enumerate(equations.columns) if speed == name]
        friction = R[:, [equations.inertial + i for i in terms]]
        columns = np.column_stack([R[:, : equations.inertial] @ phi, friction])
        lengths = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        sizes[k] = lengths[0]
        inverse = np.linalg.pinv(columns / lengths) / lengths[:, None]
        solution = inverse @ R[:, -1]
        missed = np.linalg.norm(R[:, -1] - columns @ solution) / np.sqrt(triangles.counts[k])
        gains[k] = 1.0 / solution[0]
        deviations[k] = gains[k] ** 2 * missed * np.linalg.norm(inverse[0])
    little = (sizes < LOADED * sizes.max()) | (deviations > DOUBT * np.abs(gains))
    return MotorGains(gains, deviations, little)


def efforts_by_currents(
    dynamics: Dynamics,
    speeds: ObservedSpeeds,
    samples: Sequence[Samples],
    known: Mapping[str, float],
) -> tuple[Floats, list[str]]:
    """
    Return the effort of each speed by its current, shape (nv,), and where its scale is from.

    Gains of observed speeds that are not known come from the masses of the robot.
    """
    scale, names, notes = np.ones(dynamics.robot.nv), speeds.names, list[str]()
    for name, gain in known.items():
        scale[speeds.indices[index_of('joint with a gain', name, names)]] = gain
    if known:
        notes.append(f'gains of {[*known]} are known: masses have the scale of these')
    if unknown := [k for k, name in enumerate(names) if name not in known]:
        terms = dict.fromkeys(names, MOTOR_SIDE)
        gains, deviations, in_doubt = motor_gains(Equations(dynamics, speeds, terms), samples)
        if doubtful := [names[k] for k in unknown if in_doubt[k]]:
            raise InvalidInputError(
                f'gains of {doubtful} cannot be told from the masses of the URDF: give them in '
                'the file of --gains, or leave these joints out by --joints'
            )
        scale[np.array(speeds.indices)[unknown]] = gains[unknown]
        notes += [
            f"gain of '{names[k]}' is {gains[k]:.4g} +- {deviations[k]:.1g}, by the masses of the "
            'URDF: how heavy the robot is, is not identified'
            for k in unknown
        ]
    return scale, notes


def gains_of_file(file: Path) -> dict[str, float]:
    """Return the gains in a file, by joint."""
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
