# SPDX-License-Identifier: Apache-2.0
"""The same robot in Pinocchio, in the form that is fastest there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import kane_dynamics as kd

Floats = NDArray[np.float64]
_UNIT = np.eye(3)
_REVOLUTE = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
_PRISMATIC = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)


class PinocchioModel:
    """
    Model and data with the maps from our coordinates and speeds.

    Parameters
    ----------
    model : pinocchio.Model
        The model.
    speeds : ndarray of int, shape (nv,)
        Where each of our speeds stands in Pinocchio's.
    coordinates : ndarray of int, shape (nq,)
        Where each of our coordinates, all of joints with one, starts in Pinocchio's.

    """

    def __init__(self, model: pin.Model, speeds: list[int], coordinates: list[int]) -> None:
        self.model = model
        self.data = model.createData()
        self._speeds, self._coordinates = np.array(speeds), np.array(coordinates)
        sizes = {joint.idx_q: joint.nq for joint in model.joints if joint.nq == 2}
        self._circular = [k for k, start in enumerate(coordinates) if start in sizes]

    def coordinates(self, q: Floats) -> Floats:
        """Return Pinocchio's q: cosine and sine where a joint has no limits."""
        x = np.zeros(self.model.nq)
        x[self._coordinates] = q
        for k in self._circular:
            start = self._coordinates[k]
            x[start : start + 2] = np.cos(q[k]), np.sin(q[k])
        return x

    def speeds(self, v: Floats) -> Floats:
        """Return speeds, accelerations, efforts or columns in Pinocchio's order."""
        ordered = np.zeros_like(v)
        ordered[..., self._speeds] = v
        return ordered

    def our_order(self, x: Floats) -> Floats:
        """Return the entries of one of Pinocchio's vectors in our order."""
        return np.array(x[self._speeds])


def from_urdf(path: Path, robot: kd.Robot) -> PinocchioModel:
    """Return what Pinocchio's own reader makes of a URDF, on slides x, y and a hinge yaw."""
    return _ordered(pin.buildModelFromUrdf(str(path), _planar()), robot)


def from_robot(robot: kd.Robot) -> PinocchioModel:
    """Return a chain of 1-DoF joints on a fixed or planar base, built joint by joint."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    ids = {'': 0}
    for body in robot.bodies:
        placement = pin.SE3(body.placement.rotation_matrix(), body.placement.position())
        joint = model.addJoint(
            ids[body.parent], _joint(body.joint.kind), placement, body.joint.name
        )
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        ids[body.name] = joint
    model.armature = robot.armature
    return _ordered(model, robot)


def _ordered(model: pin.Model, robot: kd.Robot) -> PinocchioModel:
    """Return a model with the places of our speeds; a planar base is its first joint."""
    speeds: list[int] = []
    coordinates: list[int] = []
    if robot.base == 'planar':
        base = model.joints[1]
        speeds += range(base.idx_v, base.idx_v + 3)
        coordinates += range(base.idx_q, base.idx_q + 3)
    for name in robot.velocity_names[len(speeds) :]:
        joint = model.joints[model.getJointId(name)]
        speeds.append(joint.idx_v)
        coordinates.append(joint.idx_q)
    return PinocchioModel(model, speeds, coordinates)


def _planar() -> pin.JointModel:
    """Return slides along x and y and a hinge about z, whose speeds are ours."""
    joint = pin.JointModelComposite(pin.JointModelPX())
    joint.addJoint(pin.JointModelPY())
    joint.addJoint(pin.JointModelRZ())
    return joint


def _joint(kind: object) -> pin.JointModel:
    """Return the joint type that Pinocchio's URDF reader would choose: aligned where it can."""
    if isinstance(kind, kd.Planar):
        return _planar()
    if not isinstance(kind, (kd.Revolute, kd.Prismatic)):
        raise TypeError(f'no joint of Pinocchio here for {kind}')
    turning = isinstance(kind, kd.Revolute)
    for axis, aligned in zip(_UNIT, _REVOLUTE if turning else _PRISMATIC, strict=True):
        if np.array_equal(axis, kind.axis):
            return aligned()
    general = pin.JointModelRevoluteUnaligned if turning else pin.JointModelPrismaticUnaligned
    return general(np.array(kind.axis))
