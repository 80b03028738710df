# SPDX-License-Identifier: Apache-2.0
"""The same robot in Pinocchio: built from ours joint by joint, or read from its URDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

import kane_dynamics as kd
from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.typing import Floats

_REVOLUTE = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
_PRISMATIC = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)


class PinocchioTwin:
    """
    A Pinocchio model whose speeds are V v, with V constant, shape (nv of Pinocchio, nv).

    Mimic joints are joints of their own there, and their rows of V repeat their master's.

    Parameters
    ----------
    robot : Robot
        The robot.
    model : pinocchio.Model, optional
        With joints of the same names; None: one is built.

    """

    def __init__(self, robot: kd.Robot, model: pin.Model | None = None) -> None:
        self.robot = robot
        self.model = _built(robot) if model is None else model
        self.model.gravity.linear = np.array(robot.gravity)
        self.data = self.model.createData()
        self.V = np.zeros((self.model.nv, robot.nv))
        for body in robot.bodies:
            joint, (name, ratio, _) = self._joint(body), self._master(body)
            kind = body.joint.kind
            columns = [
                robot.velocity_names.index(name + suffix) for suffix in kind.velocity_suffixes
            ]
            if isinstance(kind, kd.Free):
                columns = columns[3:] + columns[:3]  # ours is (omega, v)
            rows = range(joint.idx_v, joint.idx_v + joint.nv)
            self.V[rows, columns] = ratio

    def _joint(self, body: kd.Body) -> pin.JointModel:
        return self.model.joints[self.model.getJointId(body.joint.name)]

    def _master(self, body: kd.Body) -> tuple[str, float, float]:
        """Return the joint that is followed through all mimics, the ratio and the offset."""
        by_joint = {b.joint.name: b for b in self.robot.bodies}
        ratio, offset = 1.0, 0.0
        while body.mimic is not None:
            offset += ratio * body.mimic.offset
            ratio *= body.mimic.ratio
            body = by_joint[body.mimic.master]
        return body.joint.name, ratio, offset

    def coordinates(self, q: Floats) -> Floats:
        """Return Pinocchio's q: quaternions (x, y, z, w), cosine and sine of continuous joints."""
        x = pin.neutral(self.model)
        for body in self.robot.bodies:
            joint, (name, ratio, offset) = self._joint(body), self._master(body)
            kind = body.joint.kind
            labels = [name + suffix for suffix in kind.coordinate_suffixes]
            own = np.array([q[self.robot.coordinate_names.index(label)] for label in labels])
            if body.mimic is not None:
                own = ratio * own + offset
            if isinstance(kind, (kd.Spherical, kd.Free)):
                own = np.r_[own[:-4], own[-3:], own[-4]]
            elif (joint.nv, joint.nq) == (1, 2):
                own = np.r_[np.cos(own), np.sin(own)]
            x[joint.idx_q : joint.idx_q + joint.nq] = own
        return x

    def speeds(self, v: Floats) -> Floats:
        """Return speeds or accelerations, also rows of them, in Pinocchio's order."""
        return v @ self.V.T

    def our_order(self, x: Floats) -> Floats:
        """Return efforts, or without mimic joints any vector of Pinocchio's, in our order."""
        return x @ self.V

    def inverse_dynamics(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return rnea, reduced to our speeds; armature included."""
        V, x = self.V, self.coordinates(q)
        return V.T @ pin.rnea(self.model, self.data, x, V @ v, V @ a)

    def mass_matrix(self, q: Floats) -> Floats:
        """Return crba, reduced."""
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates(q)))
        return self.V.T @ (upper + np.triu(upper, 1).T) @ self.V

    def coriolis_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v, reduced; computeCoriolisMatrix is wrong for composite joints."""
        x = self.coordinates(q)
        bias = pin.nonLinearEffects(self.model, self.data, x, self.V @ v)
        return self.V.T @ bias - self.gravity_force(q)

    def gravity_force(self, q: Floats) -> Floats:
        """Return g, reduced."""
        return self.V.T @ pin.computeGeneralizedGravity(self.model, self.data, self.coordinates(q))

    def energies(self, q: Floats, v: Floats) -> tuple[float, float]:
        """Return the kinetic and the potential energy [J] of a robot without armature."""
        x = self.coordinates(q)
        kinetic = pin.computeKineticEnergy(self.model, self.data, x, self.V @ v)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, x)

    def mass(self) -> float:
        """Return the mass of all that moves [kg]."""
        return sum(inertia.mass for inertia in list(self.model.inertias)[1:])

    def body_pose(self, q: Floats, body: str) -> tuple[Floats, Floats]:
        """Return rotation matrix and position of a body."""
        pin.forwardKinematics(self.model, self.data, self.coordinates(q))
        joint = next(b.joint.name for b in self.robot.bodies if b.name == body)
        placement = self.data.oMi[self.model.getJointId(joint)]
        return placement.rotation, placement.translation

    def frame_error(self, q: Floats) -> float:
        """Return the largest difference between the link poses of both, read from a URDF."""
        pin.framesForwardKinematics(self.model, self.data, self.coordinates(q))
        poses = body_poses(self.robot, q.tolist())
        worst = 0.0
        for name, frame in self.robot.frames.items():
            x = frame.pose if frame.body < 0 else poses[frame.body] * frame.pose
            other = self.data.oMf[self.model.getFrameId(name, pin.FrameType.BODY)]
            worst = max(worst, np.abs(x.rotation_matrix() - other.rotation).max())
            worst = max(worst, np.abs(x.position() - other.translation).max())
        return worst


def urdf_model(source: Path | str, base: str = 'fixed') -> pin.Model:
    """Return what Pinocchio's own reader makes of a file or a text, on one of our bases."""
    build = pin.buildModelFromXML if '<' in str(source) else pin.buildModelFromUrdf
    kind: object = kd.Planar() if base == 'planar' else kd.Free()
    return build(str(source), *(() if base == 'fixed' else (_one_joint(kind), 'base')))


def _built(robot: kd.Robot) -> pin.Model:
    """Return a model with one joint for each body."""
    model, ids = pin.Model(), {'': 0}
    for body in _depth_first(robot.bodies):
        placement = pin.SE3(body.placement.rotation_matrix(), body.placement.position())
        joint = model.addJoint(
            ids[body.parent], _one_joint(body.joint.kind), placement, body.joint.name
        )
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        ids[body.name] = joint
    model.armature = np.zeros(model.nv)
    for body in robot.bodies:
        joint = model.joints[ids[body.name]]
        model.armature[joint.idx_v : joint.idx_v + joint.nv] = body.joint.armature
    return model


def _depth_first(bodies: Sequence[kd.Body], parent: str = '') -> list[kd.Body]:
    """Return the bodies so that each subtree is contiguous, which crba needs."""
    found = []
    for body in bodies:
        if body.parent == parent:
            found += [body, *_depth_first(bodies, body.name)]
    return found


def _one_joint(kind: object) -> pin.JointModel:
    """Return the joint that Pinocchio's URDF reader would choose, or a composite of such."""
    parts = _parts(kind)
    if len(parts) == 1:
        return parts[0]
    joint = pin.JointModelComposite(len(parts))
    for part in parts:
        joint.addJoint(part)
    return joint


def _parts(kind: object) -> list[pin.JointModel]:
    """Return the joints of Pinocchio that, one after the other, move like `kind`."""
    if isinstance(kind, kd.Planar):  # v in the axes of the parent, as ours
        return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
    if isinstance(kind, kd.Spherical):
        return [pin.JointModelSpherical()]
    if isinstance(kind, kd.Free):
        return [pin.JointModelFreeFlyer()]
    axis = np.array(kind.axis)  # type: ignore[attr-defined]
    if isinstance(kind, kd.Helical):
        return [pin.JointModelHelicalUnaligned(axis, kind.pitch)]
    turn = _along(axis, _REVOLUTE, pin.JointModelRevoluteUnaligned)
    slide = _along(axis, _PRISMATIC, pin.JointModelPrismaticUnaligned)
    if isinstance(kind, kd.Cylindrical):
        return [turn, slide]
    return [turn if isinstance(kind, kd.Revolute) else slide]


def _along(axis: Floats, aligned: Sequence[type], general: type) -> pin.JointModel:
    """Return the type for a coordinate axis where it is one: those are faster."""
    for unit, kind in zip(np.eye(3), aligned, strict=True):
        if np.array_equal(unit, axis):
            return kind()
    return general(axis)
