# SPDX-License-Identifier: Apache-2.0
"""The same URDF read by Pinocchio, with the maps from our q and v to its own, joints by name."""

import numpy as np
import pinocchio as pin

from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.model.joint_kinds import Free

GRAVITY = (0.0, 0.0, -9.81)


def _root_joint(base):
    if base == 'floating':
        return pin.JointModelFreeFlyer()
    planar = pin.JointModelComposite(3)  # v in world axes, as ours
    for part in (pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()):
        planar.addJoint(part)
    return planar


def read(source, base='fixed'):
    """Return Pinocchio's model of a file or a text."""
    build = pin.buildModelFromXML if '<' in str(source) else pin.buildModelFromUrdf
    root = () if base == 'fixed' else (_root_joint(base), 'base')
    model = build(str(source), *root)
    model.gravity.linear = np.array(GRAVITY)
    return model


class UrdfOracle:
    """Pinocchio's answers in our coordinates. Mimic joints are free joints there."""

    def __init__(self, robot, model):
        self.robot, self.model, self.data = robot, model, model.createData()
        self.V = np.zeros((model.nv, robot.nv))
        for body, index in zip(robot.bodies, robot.indices, strict=True):
            joint = model.joints[model.getJointId(body.joint.name)]
            block = index.ratio * np.eye(joint.nv)
            if isinstance(body.joint.kind, Free):
                block = np.roll(block, 3, axis=0)  # ours is (omega, v)
            self.V[joint.idx_v : joint.idx_v + joint.nv, index.v] = block

    def coordinates(self, q):
        """Return q of Pinocchio."""
        x = pin.neutral(self.model)
        for body, index in zip(self.robot.bodies, self.robot.indices, strict=True):
            joint = self.model.joints[self.model.getJointId(body.joint.name)]
            own = index.ratio * q[index.q] + index.offset
            if isinstance(body.joint.kind, Free):
                own = np.r_[own[:3], own[4:], own[3]]
            elif joint.nv == 1 and joint.nq == 2:  # continuous
                own = np.r_[np.cos(own), np.sin(own)]
            x[joint.idx_q : joint.idx_q + joint.nq] = own
        return x

    def inverse_dynamics(self, q, v, a):
        """Return rnea."""
        V = self.V
        return V.T @ pin.rnea(self.model, self.data, self.coordinates(q), V @ v, V @ a)

    def mass_matrix(self, q):
        """Return crba."""
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates(q)))
        return self.V.T @ (upper + np.triu(upper, 1).T) @ self.V

    def gravity_force(self, q):
        """Return g."""
        return self.V.T @ pin.computeGeneralizedGravity(self.model, self.data, self.coordinates(q))

    def mass(self):
        """Return the mass of all that moves [kg]."""
        return sum(inertia.mass for inertia in list(self.model.inertias)[1:])

    def frame_error(self, q):
        """Return the largest difference between the link poses of both."""
        pin.framesForwardKinematics(self.model, self.data, self.coordinates(q))
        poses = body_poses(self.robot, q.tolist())
        worst = 0.0
        for name, frame in self.robot.frames.items():
            x = frame.pose if frame.body < 0 else poses[frame.body] * frame.pose
            other = self.data.oMf[self.model.getFrameId(name, pin.FrameType.BODY)]
            worst = max(worst, np.abs(x.rotation_matrix() - other.rotation).max())
            worst = max(worst, np.abs(x.position() - other.translation).max())
        return worst
