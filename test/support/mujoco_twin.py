# SPDX-License-Identifier: Apache-2.0
"""The same robot in MuJoCo, built through its model specification from ours."""

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.algebra import vec4

_SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
_BALL = mujoco.mjtJoint.mjJNT_BALL


def _parts(kind):
    """Return (type, axis) of the joints of MuJoCo that move like `kind`."""
    if isinstance(kind, kd.Planar):
        return [(_SLIDE, (1, 0, 0)), (_SLIDE, (0, 1, 0)), (_HINGE, (0, 0, 1))]
    if isinstance(kind, kd.Cylindrical):
        return [(_HINGE, kind.axis), (_SLIDE, kind.axis)]
    if isinstance(kind, kd.Spherical):
        return [(_BALL, (0, 0, 1))]
    return [(_HINGE if isinstance(kind, kd.Revolute) else _SLIDE, kind.axis)]


class MujocoTwin:
    """A MuJoCo model of a robot without helical, free and mimic joints; all speeds are equal."""

    def __init__(self, robot):
        spec = mujoco.MjSpec()
        spec.option.gravity = robot.gravity
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
        bodies = {'': spec.worldbody}
        for body in robot.bodies:
            made = bodies[body.parent].add_body(
                name=body.name,
                pos=body.placement.position(),
                quat=vec4(body.placement.rotation),
            )
            for number, (kind, axis) in enumerate(_parts(body.joint.kind)):
                made.add_joint(
                    name=f'{body.joint.name}:{number}',
                    type=kind,
                    axis=axis,
                    armature=body.joint.armature,
                )
            tensor = body.inertia.tensor
            made.explicitinertial = True
            made.mass, made.ipos = body.inertia.mass, body.inertia.com
            made.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
            bodies[body.name] = made
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._q, self._v = [], []
        for body in robot.bodies:
            for number, _ in enumerate(_parts(body.joint.kind)):
                joint = self.model.joint(f'{body.joint.name}:{number}')
                ball = joint.type[0] == _BALL
                self._q += list(range(joint.qposadr[0], joint.qposadr[0] + (4 if ball else 1)))
                self._v += list(range(joint.dofadr[0], joint.dofadr[0] + (3 if ball else 1)))

    def _set(self, q, v):
        self.data.qpos[self._q], self.data.qvel[self._v] = q, v
        mujoco.mj_forward(self.model, self.data)

    def mass_matrix(self, q):
        """Return M, armature included."""
        self._set(q, np.zeros(len(self._v)))
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        return full[np.ix_(self._v, self._v)]

    def bias_force(self, q, v):
        """Return C v + g."""
        self._set(q, v)
        return self.data.qfrc_bias[self._v].copy()
