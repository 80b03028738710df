# SPDX-License-Identifier: Apache-2.0
"""
What an identification is worth to feed-forward: a robot on contacts that its URDF misses.

The simulated robot has masses and friction of 80 or 120 % of the model's. It drives and reaches on
ellipsoidal wheels with Coulomb contacts in MuJoCo under a weak feedback and the efforts of the
model; that is recorded and identified. Then another motion, with the efforts of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification.constrained_samples import constrained_samples
from kane_dynamics.identification.friction import LINK_SIDE
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.samples import prepared_samples
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters
from kane_dynamics.typing import Floats
from studies import robots
from studies.identification.mobile_base import Drive, differential, motion
from studies.mujoco_wheels.course import RADIUS
from studies.mujoco_wheels.ways import contact_wheels
from studies.peers.mujoco_twin import add_bodies
from studies.report import Table

STEP = 0.001  # [s] of MuJoCo and of the controller
STIFFNESS, DAMPING = 2.0, 0.7  # of the feedback: limits of efforts a radian, ratio
COULOMB = 0.02  # of the limit of an effort, in the model
OFF = 0.2  # of masses and friction
TRAINING, TEST = (21, 30.0), (22, 12.0)  # seeds of motions, and how long they last [s]
CORNER = 8.0  # [Hz]


def loop() -> Drive:
    """Return the shipped robot with Coulomb friction, and one whose masses and friction differ."""
    bare = robots.nonholonomic().robot
    model = _with_friction(bare, 1.0, 1.0)
    signs = 1.0 + OFF * np.where(np.arange(len(bare.bodies)) % 2, -1.0, 1.0)
    phi = inertial_parameters(model) * np.repeat(signs, 10)
    truth = _with_friction(with_inertial_parameters(bare, phi), 1.0 + OFF, 1.0 - OFF)
    motors = bare.velocity_names[3:]
    engines = [kd.compile(one, differential(one)) for one in (model, truth)]
    return Drive(*engines, motors, motors, {})


def _with_friction(robot: kd.Robot, viscous: float, coulomb: float) -> kd.Robot:
    bodies = list(robot.bodies)
    for k, body in enumerate(bodies[1:], 1):
        limit = float(robot.effort_limit[robot.velocity_index(body.joint.name)])
        joint = replace(
            body.joint, damping=viscous * body.joint.damping, friction=coulomb * COULOMB * limit
        )
        bodies[k] = replace(body, joint=joint)
    return kd.Robot(robot.name, bodies, robot.gravity, dict(robot.frames), dict(robot.wheels))


def on_floor(robot: kd.Robot) -> Any:
    """Return the robot on contacts in MuJoCo, with a second caster behind."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    add_bodies(spec, robot)
    contact_wheels(mujoco.mjtGeom.mjGEOM_ELLIPSOID, 100, 0)(spec)
    spec.worldbody.first_body().add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[0.5 * RADIUS, 0, 0],
        pos=[-0.22, 0.0, 0.5 * RADIUS],
        mass=0.0,
        condim=1,
    )
    return spec.compile()


def gains(dynamics: Any) -> tuple[Floats, Floats]:
    """Return P and D of each motor."""
    robot = dynamics.robot
    Z = ObservedSpeeds(dynamics, robot.velocity_names[3:]).directions(robot.neutral())
    inertia = np.diag(Z.T @ dynamics.mass_matrix(robot.neutral()) @ Z)
    p = STIFFNESS * robot.effort_limit[3:]
    return p, 2.0 * DAMPING * np.sqrt(p * inertia)


def run(robot: Drive, dynamics: Any, seed: int, lasts: float) -> tuple[Floats, ...]:
    """Return t, q, v, efforts and errors of the motors of a motion with the efforts of a model."""
    t, wanted, v, a = motion(robot, seed, lasts)
    effort = dynamics.constrained_inverse_dynamics(wanted, v, a, robot.motors).effort[:, 3:]
    p, d = gains(robot.model)
    model = on_floor(robot.truth.robot)
    data = mujoco.MjData(model)
    q, seen, tau = np.zeros((3, len(t), robot.truth.robot.nv))
    for k in range(len(t)):
        w, _, _, z = data.qpos[3:7]
        q[k] = [*data.qpos[:2], 2.0 * np.arctan2(z, w), *data.qpos[7:]]
        seen[k] = [*data.qvel[:2], data.qvel[5], *data.qvel[6:]]
        tau[k, 3:] = effort[k] + p * (wanted - q)[k, 3:] + d * (v - seen)[k, 3:]
        data.qfrc_applied[6:] = tau[k, 3:]
        mujoco.mj_step(model, data)
    q[:, 2] = np.unwrap(q[:, 2])
    return t, q, seen, tau, (q - wanted)[:, 3:]


def closed_loop() -> Table:
    """Return tracking errors before and after."""
    robot = loop()
    t, q, v, tau, _ = run(robot, robot.model, *TRAINING)
    speeds = ObservedSpeeds(robot.model, robot.motors)
    (samples,) = prepared_samples(t, q, tau, v, corner=CORNER)
    samples = constrained_samples(robot.model, speeds, samples)
    result = identify(robot.model, [samples], friction=LINK_SIDE, speeds=speeds)
    identified = kd.compile(result.robot, differential(result.robot))
    columns = 'efforts of', 'wheels, rms [mrad]', 'largest', 'arm, rms [mrad]', 'largest'
    table = Table('tracking errors of a new motion on contacts', columns)
    known = {'the model': robot.model, 'what was identified': identified, 'the truth': robot.truth}
    for name, dynamics in known.items():
        errors = 1e3 * np.abs(run(robot, dynamics, *TEST)[-1])
        parts = errors[:, :2], errors[:, 2:]
        cells = [f'{x:.1f}' for y in parts for x in (np.sqrt(np.mean(y**2)), y.max())]
        table.add(name, *cells)
    table.notes.append(f'condition {result.base.condition:.1f}, rank {result.base.rank}')
    table.notes += result.warnings
    return table
