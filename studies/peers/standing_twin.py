# SPDX-License-Identifier: Apache-2.0
"""
A robot that stands on soft contacts in MuJoCo: its base is free to sink, to pitch and to tip.

Wheels are spheres as wide as they are, which touch the ground in one point below their centre;
casters are small spheres without friction. Joints follow references by stiff springs and dampers;
what they are given is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies.peers.mujoco_twin import add_body, add_geom

_CASTER_RADIUS = 0.05  # [m]
_STEPS = 10  # in a time constant of contacts


class StandingTwin:
    """
    Model and data of a robot with a planar base, on its wheels and casters.

    Parameters
    ----------
    robot : Robot
        The robot; its gravity says how steep the ground is.
    wheels : sequence of str
        Joints of the wheels.
    casters : mapping of str to array_like, shape (3,)
        Contact points in the frame of the base [m].
    softness : float
        Time constant of contacts [s].
    friction : float
        mu of the wheels.
    gains : tuple of float
        Stiffness [N m/rad] and damping [N m s/rad] of what holds all joints.
    step : float
        The longest [s]: stiff joints need short ones.

    """

    def __init__(
        self,
        robot: kd.Robot,
        wheels: Sequence[str],
        casters: Mapping[str, Sequence[float]],
        softness: float,
        friction: float = 1.0,
        gains: tuple[float, float] = (1e4, 8.0),
        step: float = 2e-4,
    ) -> None:
        spec = mujoco.MjSpec()
        spec.option.gravity = robot.gravity
        spec.option.timestep = min(step, softness / _STEPS)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        add_geom(spec.worldbody, 'ground', mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        bodies = {'': spec.worldbody}
        self._grounded: list[str] = []
        for body in robot.bodies:
            made = add_body(bodies[body.parent], body, free=not body.parent)
            bodies[body.name] = made
            if body.joint.name in wheels:
                shape = robot.wheels[body.joint.name]
                self._touch(
                    spec, made, body.joint.name, shape.radius, shape.centre, friction, softness
                )
        base = bodies[robot.bodies[0].name]
        for name, point in casters.items():
            centre = np.add(point, [0, 0, _CASTER_RADIUS])
            self._touch(spec, base, name, _CASTER_RADIUS, centre, 0.0, softness)
        self.joints = robot.joint_names[1:]
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._gains = gains
        joints = [self.model.joint(name) for name in self.joints]
        self._q = [int(joint.qposadr[0]) for joint in joints]
        self._v = [int(joint.dofadr[0]) for joint in joints]
        self._names = {self.model.geom(name).id: name for name in self._grounded}
        self.effort = np.zeros(len(joints))

    def _touch(
        self,
        spec: mujoco.MjSpec,
        body: mujoco.MjsBody,
        name: str,
        radius: float,
        centre: Sequence[float] | Floats,
        friction: float,
        softness: float,
    ) -> None:
        """Let a sphere of a body touch the ground."""
        sphere = mujoco.mjtGeom.mjGEOM_SPHERE
        add_geom(body, name, sphere, size=[radius, 0, 0], pos=centre)
        pair = {'solref': [softness, 1.0], 'solimp': [0.99, 0.999, 0.001, 0.5, 2.0]}
        mu = max(friction, 1e-5)  # MuJoCo's least
        spec.add_pair(
            name=name,
            geomname1='ground',
            geomname2=name,
            condim=3,
            friction=[mu, mu, 0, 0, 0],
            **pair,
        )
        self._grounded.append(name)

    def place(self, q: Floats) -> None:
        """Stand the robot at coordinates q of the planar base, with joints at rest there."""
        half = 0.5 * q[2]
        self.data.qpos[:7] = [q[0], q[1], 0.0, np.cos(half), 0.0, 0.0, np.sin(half)]
        self.data.qpos[self._q] = q[3:]
        self.data.qvel[:] = 0.0

    def move(self, velocity: Floats) -> None:
        """Let the joints move at speeds from now on."""
        self.data.qvel[self._v] = velocity

    def step(self, position: Floats, velocity: Floats, effort: Floats) -> None:
        """Advance by a step; joints follow positions and speeds, with efforts added."""
        stiffness, damping = self._gains
        error = position - self.data.qpos[self._q]
        # held for the step, so that it is known exactly what the joints were given
        self.effort = effort + stiffness * error + damping * (velocity - self.data.qvel[self._v])
        self.data.qfrc_applied[self._v] = self.effort
        mujoco.mj_step(self.model, self.data)

    def loads(self) -> dict[str, float]:
        """Return the normal force of each contact [N]."""
        found = dict.fromkeys(self._grounded, 0.0)
        wrench = np.zeros(6)
        for k, geom in enumerate(self.data.contact.geom[:, 1].tolist()):
            mujoco.mj_contactForce(self.model, self.data, k, wrench)
            found[self._names[geom]] += float(wrench[0])
        return found

    @property
    def coordinates(self) -> Floats:
        """Return coordinates of the planar base and joints, without how it sinks and tilts."""
        return np.r_[self.data.qpos[:2], self.heading, self.data.qpos[self._q]]

    @property
    def heading(self) -> float:
        """Return the yaw of the base [rad]."""
        w, x, y, z = self.data.qpos[3:7]
        return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
