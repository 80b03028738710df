# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_contact_observer``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters, TiltParameters
from kane_dynamics.robot_config.parameters.robot import DynamicsParameters
from kane_dynamics.robot_config.parameters.spec import Spec, fixed, param

DEVIATION = (1e-9, 1e6)


@dataclass(frozen=True)
class ContactObserverParameters(PayloadParameters, TiltParameters, DynamicsParameters):
    """Parameters of ``kane_contact_observer``."""

    observed: tuple[str, ...] = fixed(
        ('',),
        "Joints whose external efforts are observed; [''] means those of the arm. Wheels need all "
        'joints that move the base, and the arm, with measured efforts.',
    )
    frame: str = fixed('', "Link that ~/wrench acts on; '': none is estimated.")
    payload_frame: str = fixed('', "Link whose payload is estimated; '': none is.")
    hold: float = param(
        0.01,
        'Time that efforts must be beyond a threshold before ~/collision changes.',
        unit='s',
        bounds=(0.0, 10.0),
        name='collision.hold',
    )
    velocity_deviation: float = param(
        0.01,
        'Standard deviation of the measured velocities, for ~/wrench_covariance.',
        unit='rad/s or m/s',
        bounds=DEVIATION,
        name='noise.velocity',
    )
    effort_deviation: float = param(
        0.1,
        'Standard deviation of the measured efforts, for ~/wrench_covariance.',
        unit='N m or N',
        bounds=DEVIATION,
        name='noise.effort',
    )
    smoothing: float = param(
        0.1,
        'Length of the pieces of splines through the samples of a payload estimate.',
        unit='s',
        bounds=(0.01, 10.0),
        name='payload_smoothing',
    )


GAIN = Spec(
    'observer.<joint>.gain',
    60.0,
    'K of a joint: external efforts appear with a lag of 1/K.',
    unit='1/s',
    bounds=(0.01, 1e5),
)
THRESHOLD = Spec(
    'observer.<joint>.threshold',
    10.0,
    'External effort of a joint from which it is a collision.',
    unit='N m or N',
    bounds=(1e-9, 1e9),
)
OBSERVER_TABLE = (GAIN, THRESHOLD)
