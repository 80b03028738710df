# SPDX-License-Identifier: Apache-2.0
"""
The same robot in MuJoCo, built from ours.

MuJoCo has no nonholonomic constraint: rolling is friction of a contact, a soft constraint. The
planar base cannot move up or down, so each contact is pressed on the ground by a small constant
penetration; friction is strong enough not to slide, and stiff. `wheels` touch the ground in one
point below their centre (spheres as wide as the wheel). A `skid` is a thin capsule along the axle
that grips along its axis only: what is left of a differential drive when its wheels are locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

import kane_dynamics as kd
from kane_dynamics.algebra.quaternions import vec4
from kane_dynamics.typing import Floats
from studies.speed.timing import Contender

_SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
_BALL = mujoco.mjtJoint.mjJNT_BALL
_STIFFNESS = {'solref': [0.002, 1.0], 'solimp': [0.99, 0.999, 0.001, 0.5, 2.0]}  # [s], dampratio
_GRIP, _NO_GRIP = 1.0, 1e-5  # friction coefficients; MuJoCo allows none below 1e-5
_PENETRATION = {'wheel': 1e-4, 'skid': 1e-6}  # [m]; a skid pressed less brakes less along its way
_SKID_RADIUS = 0.1  # [m]


class MujocoTwin:
    """
    Model and data of a robot without helical, free and mimic joints; all speeds are equal.

    Parameters
    ----------
    robot : Robot
        The robot.
    wheels : sequence of str
        Joints of wheels that roll on the ground.
    skid : bool
        Whether the base must not slip sideways at its origin.
    step : float
        [s].
    gains : tuple of float, optional
        Stiffness [N m/rad] and damping [N m s/rad] of actuators on all joints but the base's.
    noslip : bool
        Whether MuJoCo works against creep: `noslip_iterations` 10, `impratio` 10.

    """

    def __init__(
        self,
        robot: kd.Robot,
        wheels: Sequence[str] = (),
        skid: bool = False,
        step: float = 0.001,
        gains: tuple[float, float] | None = None,
        noslip: bool = False,
    ) -> None:
        spec = mujoco.MjSpec()
        if noslip:
            spec.option.noslip_iterations, spec.option.impratio = 10, 10
        spec.option.gravity = robot.gravity
        spec.option.timestep = step
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        if wheels or skid:
            add_geom(spec.worldbody, 'ground', mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        bodies = add_bodies(spec, robot)
        for body in robot.bodies:
            if body.joint.name in wheels:
                _add_wheel(spec, bodies[body.name], robot.wheels[body.joint.name])
        if skid:
            _add_skid(spec, bodies[robot.bodies[0].name])
        driven = [name for name in robot.velocity_names if not name.startswith('base')]
        for name in driven if gains is not None else ():
            add_actuator(spec, name, *gains)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        names = [label for body in robot.bodies for label, *_ in _parts(body.joint)]
        joints = [self.model.joint(name) for name in names]
        sizes = [(4, 3) if joint.type[0] == _BALL else (1, 1) for joint in joints]
        starts = [(joint.qposadr[0], joint.dofadr[0]) for joint in joints]
        self._q, self._v = (
            np.array(
                [
                    start[k] + i
                    for start, size in zip(starts, sizes, strict=True)
                    for i in range(size[k])
                ]
            )
            for k in (0, 1)
        )

    def set_state(self, q: Floats, v: Floats, tau: Floats) -> None:
        """Set coordinates, speeds and applied efforts, and forget the last solution."""
        self.data.qpos[self._q], self.data.qvel[self._v] = q, v
        self.data.qfrc_applied[self._v] = tau
        self.data.qacc_warmstart[:] = 0.0
        self.data.time = 0.0

    def rollout_inputs(self, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """Return initial states and one applied effort of each, as mujoco.rollout takes them."""
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        starts = np.zeros((len(q), mujoco.mj_stateSize(self.model, kind)))
        for row, state in enumerate(zip(q, v, tau, strict=True)):
            self.set_state(*state)
            mujoco.mj_getState(self.model, self.data, starts[row], kind)
        pushes = np.zeros((len(q), 1, self.model.nv))
        pushes[:, 0, self._v] = tau
        return starts, pushes

    def coordinates(self, states: Floats) -> Floats:
        """Return coordinates in our order from rows of states: time, coordinates, speeds."""
        return states[:, 1 + self._q]

    def state(self) -> tuple[Floats, Floats]:
        """Return coordinates and speeds in our order."""
        return self.data.qpos[self._q].copy(), self.data.qvel[self._v].copy()

    def accelerations(self) -> Floats:
        """Return accelerations in our order."""
        return self.data.qacc[self._v].copy()

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M, armature included."""
        self.set_state(q, np.zeros(len(self._v)), np.zeros(len(self._v)))
        mujoco.mj_forward(self.model, self.data)
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        return full[np.ix_(self._v, self._v)]

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v + g."""
        self.set_state(q, v, np.zeros(len(self._v)))
        mujoco.mj_forward(self.model, self.data)
        return self.data.qfrc_bias[self._v].copy()

    def inverse(self, q: Floats, v: Floats, a: Floats) -> tuple[Contender, Floats]:
        """Return mj_inverse with the copies into and out of its data."""
        self.set_state(q, v, np.zeros_like(v))
        self.data.qacc[self._v] = a
        mujoco.mj_inverse(self.model, self.data)
        statement = 'd.qpos[:] = q; d.qvel[:] = v; d.qacc[:] = a; f(m, d); d.qfrc_inverse.copy()'
        names = self._names(mujoco.mj_inverse) | {'q': q, 'v': v, 'a': a}
        return Contender('mujoco.mj_inverse', statement, names), self.data.qfrc_inverse[self._v]

    def forward(self, q: Floats, v: Floats, tau: Floats) -> tuple[Contender, Floats]:
        """Return mj_forward with the copies into and out of its data."""
        self.set_state(q, v, tau)
        mujoco.mj_forward(self.model, self.data)
        statement = 'd.qpos[:] = q; d.qvel[:] = v; d.qfrc_applied[:] = u; f(m, d); d.qacc.copy()'
        names = self._names(mujoco.mj_forward) | {'q': q, 'v': v, 'u': tau}
        return Contender('mujoco.mj_forward', statement, names), self.accelerations()

    def _names(self, function: Any) -> dict[str, Any]:
        return {'f': function, 'm': self.model, 'd': self.data}


def add_bodies(spec: Any, robot: kd.Robot) -> dict[str, Any]:
    """Add the bodies of ours; return them by name."""
    bodies = {'': spec.worldbody}
    for body in robot.bodies:
        bodies[body.name] = add_body(bodies[body.parent], body)
    return bodies


def add_body(parent: Any, body: kd.Body, free: bool = False) -> Any:
    """Add a body of ours; `free`: it moves freely, whatever its joint is."""
    made = parent.add_body(
        name=body.name, pos=body.placement.position(), quat=vec4(body.placement.rotation)
    )
    for label, kind, axis in () if free else _parts(body.joint):
        made.add_joint(
            name=label,
            type=kind,
            axis=axis,
            armature=body.joint.armature,
            damping=body.joint.damping,
            frictionloss=body.joint.friction,
        )
    if free:
        made.add_freejoint()
    tensor = body.inertia.tensor
    made.explicitinertial = True
    made.mass, made.ipos = body.inertia.mass, body.inertia.com
    made.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    return made


def _parts(joint: kd.Joint) -> list[tuple[str, Any, Any]]:
    """Return label, type and axis of the joints of MuJoCo that move like one of ours."""
    kind = joint.kind
    if isinstance(kind, kd.Spherical):
        return [(joint.name, _BALL, (0, 0, 1))]
    if isinstance(kind, kd.Planar):
        parts: list[Any] = [(_SLIDE, (1, 0, 0)), (_SLIDE, (0, 1, 0)), (_HINGE, (0, 0, 1))]
    elif isinstance(kind, kd.Cylindrical):
        parts = [(_HINGE, kind.axis), (_SLIDE, kind.axis)]
    else:
        parts = [(_HINGE if isinstance(kind, kd.Revolute) else _SLIDE, kind.axis)]  # type: ignore[attr-defined]
    names = [joint.name + suffix for suffix in kind.velocity_suffixes]
    return [(name, *part) for name, part in zip(names, parts, strict=True)]


def add_actuator(spec: Any, joint: str, stiffness: float, damping: float) -> None:
    """Add the effort stiffness (ctrl - q) - damping v."""
    spec.add_actuator(
        name=joint,
        target=joint,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        gainprm=[stiffness] + 9 * [0.0],
        biasprm=[0.0, -stiffness, -damping] + 7 * [0.0],
    )


def add_geom(body: Any, name: str, kind: Any, **options: Any) -> None:
    """Add a massless shape that touches nothing but what a pair names."""
    body.add_geom(name=name, type=kind, contype=0, conaffinity=0, mass=0.0, **options)


def _add_wheel(spec: Any, body: Any, shape: kd.WheelShape) -> None:
    size = [shape.radius + _PENETRATION['wheel'], 0, 0]
    add_geom(body, body.name, mujoco.mjtGeom.mjGEOM_SPHERE, size=size, pos=shape.centre)
    _add_pair(spec, body.name, (_GRIP, _GRIP))


def _add_skid(spec: Any, base: Any) -> None:
    ends = [0, -0.001, _SKID_RADIUS, 0, 0.001, _SKID_RADIUS]
    size = [_SKID_RADIUS + _PENETRATION['skid'], 0, 0]
    add_geom(base, 'skid', mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=size)
    _add_pair(spec, 'skid', (_GRIP, _NO_GRIP))  # the contact's first direction is along the axis


def _add_pair(spec: Any, name: str, grip: tuple[float, float]) -> None:
    spec.add_pair(
        name=name,
        geomname1='ground',
        geomname2=name,
        condim=3,
        friction=[*grip, 0, 0, 0],
        **_STIFFNESS,
    )
