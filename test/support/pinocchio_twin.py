# SPDX-License-Identifier: Apache-2.0
"""The same robot in Pinocchio, built joint by joint, with the maps between their coordinates."""

import numpy as np
import pinocchio as pin

import kane_dynamics as kd

_UNIT = np.eye(3)


def _se3(pose):
    return pin.SE3(pose.rotation_matrix(), pose.position())


def _parts(kind):
    """Return the joints of Pinocchio that, one after the other, move like `kind`."""
    if isinstance(kind, kd.Helical):
        return [pin.JointModelHelicalUnaligned(np.array(kind.axis), kind.pitch)]
    if isinstance(kind, kd.Revolute):
        return [pin.JointModelRevoluteUnaligned(np.array(kind.axis))]
    if isinstance(kind, kd.Prismatic):
        return [pin.JointModelPrismaticUnaligned(np.array(kind.axis))]
    if isinstance(kind, kd.Cylindrical):
        axis = np.array(kind.axis)
        return [pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)]
    if isinstance(kind, kd.Planar):
        slides = [pin.JointModelPrismaticUnaligned(_UNIT[k]) for k in (0, 1)]
        return [*slides, pin.JointModelRevoluteUnaligned(_UNIT[2])]
    return [
        pin.JointModelSpherical() if isinstance(kind, kd.Spherical) else pin.JointModelFreeFlyer()
    ]


def _depth_first(bodies, parent=''):
    """Return the bodies so that each subtree is contiguous, which crba needs."""
    found = []
    for body in bodies:
        if body.parent == parent:
            found += [body, *_depth_first(bodies, body.name)]
    return found


class PinocchioTwin:
    """
    A Pinocchio model whose speeds are V v, with V constant, shape (nv of Pinocchio, nv).

    Mimic joints are joints of their own there, and their rows of V repeat their master's.
    """

    def __init__(self, robot):
        self.robot = robot
        self.model = pin.Model()
        self.model.gravity.linear = np.array(robot.gravity)
        self.bodies = {}
        self._order = _depth_first(robot.bodies)
        ids = {'': 0}
        for body in self._order:
            parent, placement = ids[body.parent], _se3(body.placement)
            for number, joint in enumerate(_parts(body.joint.kind)):
                parent = self.model.addJoint(
                    parent, joint, placement, f'{body.joint.name}:{number}'
                )
                placement = pin.SE3.Identity()
            inertia = body.inertia
            self.model.appendBodyToJoint(
                parent, pin.Inertia(inertia.mass, inertia.com, inertia.tensor), pin.SE3.Identity()
            )
            ids[body.name] = parent
            self.bodies[body.name] = parent
        self.V = self._speed_map()
        self.model.armature = np.concatenate(
            [np.full(body.joint.kind.nv, body.joint.armature) for body in self._order]
        )
        self.data = self.model.createData()

    def _master(self, body):
        """Return the joint that is followed through all mimics, the ratio and the offset."""
        by_joint = {b.joint.name: b for b in self.robot.bodies}
        ratio, offset = 1.0, 0.0
        while body.mimic is not None:
            offset += ratio * body.mimic.offset
            ratio *= body.mimic.ratio
            body = by_joint[body.mimic.master]
        return body.joint.name, ratio, offset

    def _speed_map(self):
        blocks = []
        for body in self._order:
            name, ratio, _ = self._master(body)
            kind = body.joint.kind
            block = np.zeros((kind.nv, self.robot.nv))
            names = [name + suffix for suffix in kind.velocity_suffixes]
            for row, label in enumerate(names):
                block[row, self.robot.velocity_names.index(label)] = ratio
            blocks.append(np.roll(block, 3, axis=0) if isinstance(kind, kd.Free) else block)
        return np.vstack(blocks)

    def coordinates(self, q):
        """Return Pinocchio's q: quaternions (x, y, z, w)."""
        parts = []
        for body in self._order:
            name, ratio, offset = self._master(body)
            kind = body.joint.kind
            labels = [name + suffix for suffix in kind.coordinate_suffixes]
            own = np.array([q[self.robot.coordinate_names.index(label)] for label in labels])
            if body.mimic is not None:
                own = ratio * own + offset
            if isinstance(kind, (kd.Spherical, kd.Free)):
                own = np.r_[own[:-4], own[-3:], own[-4]]
            parts.append(own)
        return np.concatenate(parts)

    def inverse_dynamics(self, q, v, a):
        """Return rnea, reduced to our speeds; armature included."""
        V, x = self.V, self.coordinates(q)
        return V.T @ pin.rnea(self.model, self.data, x, V @ v, V @ a)

    def mass_matrix(self, q):
        """Return crba, reduced."""
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates(q)))
        return self.V.T @ (upper + np.triu(upper, 1).T) @ self.V

    def coriolis_force(self, q, v):
        """Return C v, reduced."""
        V, x = self.V, self.coordinates(q)
        return V.T @ pin.computeCoriolisMatrix(self.model, self.data, x, V @ v) @ V @ v

    def gravity_force(self, q):
        """Return g, reduced."""
        return self.V.T @ pin.computeGeneralizedGravity(self.model, self.data, self.coordinates(q))

    def energies(self, q, v):
        """Return the kinetic and the potential energy [J] of a robot without armature."""
        x = self.coordinates(q)
        kinetic = pin.computeKineticEnergy(self.model, self.data, x, self.V @ v)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, x)

    def body_pose(self, q, body):
        """Return rotation matrix and position of a body."""
        pin.forwardKinematics(self.model, self.data, self.coordinates(q))
        placement = self.data.oMi[self.bodies[body]]
        return placement.rotation, placement.translation
