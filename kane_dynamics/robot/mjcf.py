# SPDX-License-Identifier: Apache-2.0
"""
MJCF to `Robot`, read by MuJoCo's own compiler: defaults, includes, angles, inertias of shapes.

MuJoCo moves a body by its joints one after another, each about an anchor: a joint is a body here,
without mass but the last, whose frame is at the anchor. Bodies without a joint are lumped into
their parents. A hinge or slide with a reference is placed so that q is MuJoCo's qpos.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError, ModelWarning
from kane_dynamics.robot.body import Body, Frame, Joint, WheelShape
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.joint_kinds import Free, JointKind, Prismatic, Revolute, Spherical
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.robot import BASE_JOINT, WORLD, Robot
from kane_dynamics.robot.urdf.joints import wheel_shape
from kane_dynamics.robot.urdf.records import UrdfLink, UrdfOrigin, UrdfRound

_NEEDED = 'need an MJCF file, but'
_ALONG_WORLD = 'along axes of the world, armature or friction of free joints'
_UNTURNED = (1.0, 0.0, 0.0, 0.0)


def load_mjcf(path_or_xml_text: str | os.PathLike[str]) -> Robot:
    """
    Read a robot from an MJCF model of MuJoCo.

    Parameters
    ----------
    path_or_xml_text : str or path
        XML text if it is a str with a ``<`` in it, else the path of a file, or its file:// or
        package:// address. MuJoCo compiles it, so meshes must be there.

    Returns
    -------
    Robot
        Trees of hinges, slides, balls and free joints; q is qpos [rad, m, 1]. v is qvel, but for
        free joints, whose (omega, v) are both in the axes of the body. Armature, damping,
        frictionloss and ranges are taken over; effort limits are the force ranges of joints and
        actuators of hinges and slides. Bodies and sites become frames. Round shapes that
        collide, of what a joint turns, become `Robot.wheels`.

    Raises
    ------
    InvalidInputError
        If there is no such file, or MuJoCo cannot compile it.
    MissingPackageError
        No mujoco (pip install kane_dynamics[mujoco]).

    Warns
    -----
    ModelWarning
        For what the dynamics of the robot have not: springs, equalities, tendons, fluids,
        compensated gravity, flexible bodies, ranges of balls, armature of actuators; free joints
        whose armature or friction is along axes of the world; sites with the name of a body.

    Examples
    --------
    >>> import kane_dynamics as kd
    >>> robot = kd.load_mjcf('''<mujoco><worldbody><body name="bob" pos="0 0 2">
    ...   <joint name="pin" axis="0 1 0" damping="0.1"/>
    ...   <geom type="sphere" size=".1" pos="0 0 -1" mass="2"/></body></worldbody></mujoco>''')
    >>> robot.joint_names, float(kd.mass_matrix(robot, [0.0])[0, 0])
    (('pin',), 2.008)

    """
    mj = mujoco_module()
    model = _compiled(mj, path_or_xml_text)
    tree = _Tree(mj, model)
    for number in range(1, model.nbody):
        tree.add(number)
    features = [*_ignored_features(mj, model)]
    if features:
        message = f'left out, as a Robot has none: {"; ".join(features)}'
        warnings.warn(message, ModelWarning, stacklevel=2)
    return tree.robot()


def mujoco_module() -> Any:
    """Return the module mujoco; raises MissingPackageError without it."""
    try:
        return import_module('mujoco')
    except ImportError as error:
        remedy = "pip install 'kane_dynamics[mujoco]'"
        raise MissingPackageError('a model of MuJoCo', 'mujoco', remedy) from error


def _compiled(mj: Any, source: str | os.PathLike[str]) -> Any:
    """Return MuJoCo's compiled model."""
    text = as_path('path_or_xml_text', source)
    path = None if isinstance(source, str) and '<' in text else str(resolve(text, _NEEDED))
    make = mj.MjModel.from_xml_string if path is None else mj.MjModel.from_xml_path
    try:
        model = make(path or text)
        model.names.decode()  # or the error comes with one name
        return model
    except (TypeError, ValueError) as error:  # a TypeError for text that is no UTF-8
        raise InvalidInputError(f'MuJoCo cannot compile the model: {error}') from error


class _Tree:
    """Bodies and frames of a model, one body of MuJoCo after another."""

    def __init__(self, mj: Any, model: Any) -> None:
        self._mj, self._model = mj, model
        self._bodies: list[Body] = []
        self._loads: list[Inertia] = []
        self._frames = dict[str, Frame]()
        self._places = [Frame(WORLD, Pose.identity())]  # of the bodies of MuJoCo
        self._rounds: list[list[tuple[Pose, UrdfLink]]] = []
        self._efforts = dict(_effort_limits(mj, model))
        self._free = np.flatnonzero(model.jnt_type == mj.mjtJoint.mjJNT_FREE).tolist()

    def add(self, number: int) -> None:
        """Add the joints of a body of MuJoCo, its mass, its sites and its round shapes."""
        model, name = self._model, self._name('body', number)
        parent = self._places[model.body_parentid[number]]
        index = parent.body
        pose = parent.pose * _pose(model.body_pos[number], model.body_quat[number])
        first, count = model.body_jntadr[number], model.body_jntnum[number]
        for joint in range(first, first + count):
            anchor = _pose(model.jnt_pos[joint])
            last = joint == first + count - 1 and not model.jnt_pos[joint].any()
            title = name if last else f'{name}/{self._name("jnt", joint)}'
            kind, reference = self._kind(joint)
            placement = Pose.identity() if isinstance(kind, Free) else pose * anchor * reference
            carrier = '' if index == WORLD else self._bodies[index].name
            self._bodies.append(Body(title, carrier, self._joint(joint, kind), placement))
            self._loads.append(Inertia.zero())
            self._rounds.append([])
            index, pose = len(self._bodies) - 1, anchor.conjugate()
        place = Frame(index, pose)
        self._places.append(place)
        self._frames[name] = place
        for site in np.flatnonzero(model.site_bodyid == number):
            x_S_B = pose * _pose(model.site_pos[site], model.site_quat[site])
            self._frames.setdefault(self._name('site', int(site)), Frame(index, x_S_B))
        if index != WORLD:
            self._loads[index] += self._inertia(number).moved(pose)
            self._rounds[index] += [(pose * x, link) for x, link in self._round_shapes(number)]

    def robot(self) -> Robot:
        """Return the robot."""
        wheels = dict[str, WheelShape]()
        bodies = []
        for body, load, rounds in zip(self._bodies, self._loads, self._rounds, strict=True):
            bodies.append(Body(body.name, body.parent, body.joint, body.placement, load))
            shape = wheel_shape(rounds, body.joint.kind)
            if shape is not None:
                wheels[body.joint.name] = shape
        title = self._model.names.split(b'\0')[0].decode() or 'mjcf'
        gravity = self._model.opt.gravity * self._has('GRAVITY')
        return Robot(title, bodies, gravity, self._frames, wheels)

    def _has(self, *features: str) -> bool:
        """Return whether no feature is disabled."""
        flags = self._mj.mjtDisableBit  # some only older MuJoCo has, some only newer
        bits = [int(getattr(flags, f'mjDSBL_{name}', 0)) for name in features]
        return not any(self._model.opt.disableflags & bit for bit in bits)

    def _name(self, kind: str, number: int) -> str:
        """Return the name of an object, or one of its number."""
        written = getattr(self._model, kind)(number).name
        if not written and kind == 'jnt' and number in self._free[:1]:
            return BASE_JOINT
        return written or f'{"joint" if kind == "jnt" else kind}_{number}'

    def _kind(self, joint: int) -> tuple[JointKind, Pose]:
        """Return the kind of a joint, and where its q = 0 is in its frame at the reference."""
        types, model = self._mj.mjtJoint, self._model
        if joint in self._free:
            return Free(), Pose.identity()
        if model.jnt_type[joint] == types.mjJNT_BALL:
            return Spherical(), Pose.identity()
        is_hinge = model.jnt_type[joint] == types.mjJNT_HINGE
        kind = (Revolute if is_hinge else Prismatic)(tuple(model.jnt_axis[joint].tolist()))
        return kind, kind.pose([-float(model.qpos0[model.jnt_qposadr[joint]])])

    def _joint(self, joint: int, kind: JointKind) -> Joint:
        model, speed = self._model, self._model.jnt_dofadr[joint]
        lower, upper, effort_limit = -np.inf, np.inf, np.inf
        damping = float(np.atleast_1d(model.dof_damping[speed])[0])
        if kind.nv == 1:
            effort_limit = self._efforts.get(joint, np.inf)
            if model.jnt_limited[joint]:
                lower, upper = model.jnt_range[joint].tolist()
        return Joint(
            self._name('jnt', joint),
            kind,
            armature=float(model.dof_armature[speed]),
            damping=damping * self._has('DAMPER', 'PASSIVE'),
            friction=float(model.dof_frictionloss[speed])
            * self._has('FRICTIONLOSS', 'CONSTRAINT'),
            lower=lower,
            upper=upper,
            effort_limit=effort_limit,
        )

    def _inertia(self, number: int) -> Inertia:
        """Return mass properties in the frame of a body of MuJoCo."""
        model = self._model
        R = _pose((0.0, 0.0, 0.0), model.body_iquat[number]).rotation_matrix()
        tensor = R @ np.diag(model.body_inertia[number]) @ R.T
        return Inertia(float(model.body_mass[number]), model.body_ipos[number].copy(), tensor)

    def _round_shapes(self, number: int) -> Iterator[tuple[Pose, UrdfLink]]:
        """Yield cylinders and spheres that collide, with their poses in the body."""
        model, kinds = self._model, self._mj.mjtGeom
        for geom in np.flatnonzero(model.geom_bodyid == number):
            is_sphere = model.geom_type[geom] == kinds.mjGEOM_SPHERE
            collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
            if collides and (is_sphere or model.geom_type[geom] == kinds.mjGEOM_CYLINDER):
                shape = UrdfRound(UrdfOrigin(), float(model.geom_size[geom, 0]), bool(is_sphere))
                pose = _pose(model.geom_pos[geom], model.geom_quat[geom])
                yield pose, UrdfLink('', rounds=(shape,))


def _pose(position: Any, wxyz: Any = _UNTURNED) -> Pose:
    return Pose.from_rotation_and_position(np.array(wxyz), np.array(position))


def _effort_limits(mj: Any, model: Any) -> Iterator[tuple[int, float]]:
    """Yield the joints whose effort is limited, and the limit [N m or N]."""
    of_joint = model.actuator_trntype == mj.mjtTrn.mjTRN_JOINT
    for joint in range(model.njnt):
        bounds = []
        if model.jnt_actfrclimited[joint]:
            bounds.append(float(np.abs(model.jnt_actfrcrange[joint]).max()))
        motors = np.flatnonzero(of_joint & (model.actuator_trnid[:, 0] == joint)).tolist()
        if motors and all(np.isfinite(forces := [_largest(mj, model, k) for k in motors])):
            bounds.append(float(sum(forces)))
        if bounds:
            yield joint, min(bounds)


def _largest(mj: Any, model: Any, motor: int) -> float:
    """Return the largest effort that an actuator gives its joint, infinite where unknown."""
    gear = abs(float(model.actuator_gear[motor, 0]))
    if model.actuator_forcelimited[motor]:
        return gear * float(np.abs(model.actuator_forcerange[motor]).max())
    is_fixed = model.actuator_gaintype[motor] == mj.mjtGain.mjGAIN_FIXED
    is_plain = model.actuator_biastype[motor] == mj.mjtBias.mjBIAS_NONE
    is_sum = model.actuator_dyntype[motor] == mj.mjtDyn.mjDYN_INTEGRATOR
    if model.actuator_ctrllimited[motor] and is_fixed and is_plain and not is_sum:
        gain = abs(float(model.actuator_gainprm[motor, 0]))
        return gear * gain * float(np.abs(model.actuator_ctrlrange[motor]).max())
    return float('inf')


def _ignored_features(mj: Any, model: Any) -> Iterator[str]:
    """Yield what a model has and a Robot has not, with names."""
    kinds, types, joints = mj.mjtJoint, model.jnt_type, np.arange(model.njnt)
    bent, along_world = (
        np.isin(joints, model.dof_jntid[np.flatnonzero(_nonzero(model, *names))])
        for names in (('dof_dampingpoly',), ('dof_armature', 'dof_frictionloss'))
    )
    bodies = [model.body(k).name for k in range(model.nbody)]
    unseen = [model.site(k).name in bodies for k in range(model.nsite)]
    motors = 'actuator_armature', 'actuator_damping'
    for title, kind, has in (
        ('springs of joints', 'jnt', _nonzero(model, 'jnt_stiffness', 'jnt_stiffnesspoly')),
        ('nonlinear damping of joints', 'jnt', bent),
        ('ranges of balls', 'jnt', (types == kinds.mjJNT_BALL) & (model.jnt_limited != 0)),
        (_ALONG_WORLD, 'jnt', along_world & (types == kinds.mjJNT_FREE)),
        ('armature or damping of actuators', 'actuator', _nonzero(model, *motors)),
        ('sites with names of bodies', 'site', unseen),
        ('equalities', 'equality', np.ones(model.neq, dtype=bool)),
        ('tendons', 'tendon', np.ones(model.ntendon, dtype=bool)),
        ('compensated gravity of', 'body', model.body_gravcomp != 0.0),
        ('mocap bodies', 'body', model.body_mocapid >= 0),
        ('flexible bodies', 'flex', np.ones(model.nflex, dtype=bool)),
    ):
        numbers = np.flatnonzero(has)
        if len(numbers):
            names = [getattr(model, kind)(int(k)).name or f'number {k}' for k in numbers]
            yield f'{title} {names}'
    if model.opt.density or model.opt.viscosity:
        yield f'fluid of density {model.opt.density:g} and viscosity {model.opt.viscosity:g}'


def _nonzero(model: Any, *names: str) -> Any:
    """Return which rows of arrays are not zero; older MuJoCo has not all arrays."""
    arrays = [getattr(model, name) for name in names if hasattr(model, name)]
    return np.any([np.atleast_2d(x.T).any(axis=0) for x in arrays], axis=0)
