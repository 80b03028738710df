# SPDX-License-Identifier: Apache-2.0
"""Masses that no robot has: links without any, grams for kilograms."""

from __future__ import annotations

from collections.abc import Iterator

from kane_dynamics.robot.robot import Robot

HEAVIEST = 2000.0  # [kg] of a robot whose file is in kilograms; a few industrial arms have more


def mass_remarks(robot: Robot) -> Iterator[str]:
    """Yield what is unlikely about the masses of a robot, with the links."""
    mobile = robot.base != 'fixed'
    if mobile and robot.bodies[0].inertia.mass == 0.0:
        name = robot.bodies[0].name
        yield (
            f"link '{name}': the base has 0 kg, with all links fixed to it; efforts of the wheels "
            'will be too small: give it an <inertial>'
        )
    canonical_robot = [body for body in robot.bodies[mobile:] if body.inertia.mass == 0.0]
    massless = [f"'{body.name}' ('{body.joint.name}')" for body in canonical_robot]
    if massless:
        yield (
            f'links of 0 kg that joints move: {", ".join(massless)}; efforts leave out what they '
            'weigh: give them an <inertial>, unless other links have their mass'
        )
    mass = sum(body.inertia.mass for body in robot.bodies)
    if mass > HEAVIEST:
        heaviest = max(robot.bodies, key=lambda body: body.inertia.mass)
        yield (
            f'the robot has {mass:.4g} kg in motion, most of it ({heaviest.inertia.mass:.4g} kg) '
            f"in link '{heaviest.name}': URDF masses are in kg, not in g"
        )
