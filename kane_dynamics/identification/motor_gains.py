# SPDX-License-Identifier: Apache-2.0
r"""
Gains from currents to efforts, by masses that are known.

With currents i instead of efforts, :math:`W \phi + F f = g\, i`, the scale of :math:`\phi` is
unknown: phi, f and g times any number fit as well. With the parameters :math:`\phi_0` of a robot
whose masses are known, of its URDF or with a payload, g of each joint follows by least squares
from :math:`i = (W \phi_0 + F f) / g`: what the model lacks is in the currents.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.scalars import as_number
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.recording_checks import LOADED
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import as_mapping
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
