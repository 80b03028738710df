# SPDX-License-Identifier: Apache-2.0
"""
The algorithms as graphs of one body, for loops over bodies.

`trace` calls an algorithm on all bodies and gets one graph; here the steps of the same algorithms
are called on one body of each group, with symbols for what its parent or its children hand on.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.dual_quaternion import twist_from_vector, vec6
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import dot, make_quaternion, pure, scale, vec3, vec4
from kane_dynamics.algebra.traced_scalar import symbols
from kane_dynamics.algorithms.kinematics import body_kinetic_energy, moment_in_parent, rotor_energy
from kane_dynamics.algorithms.newton_euler import (
    inward,
    outward,
    outward_along,
    speed_drag,
    speed_friction,
)
from kane_dynamics.compiler.graphs.body_groups import (
    THERE_BACK_THERE,
    BodyGroup,
    Symbols,
    along_speeds,
    articulated_body,
    body_function,
    body_groups,
    fall_of,
    group_code,
    sum_of_bodies,
)
from kane_dynamics.compiler.llvm.kernel_spec import GroupCode, LoopSpec, Places, TreePass
from kane_dynamics.compiler.parameters import load_places, parameter_count
from kane_dynamics.robot.body import Frame
from kane_dynamics.robot.canonical_frames import canonical_frames
from kane_dynamics.robot.motion import AT_REST, body_twist
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.simulation.integrators import STICTION_SPEED


class LoopTracer:
    """Graphs of one robot's bodies."""

    def __init__(self, robot: Robot, frames: Sequence[str], payloads: Sequence[str] = ()) -> None:
        self.robot = robot
        self.frames = tuple(frames)
        canonical_robot = canonical_frames(robot, ahead=False)[0]
        self.canonical_robot = body_groups(
            canonical_robot, load_places(robot, payloads, canonical=True)
        )
        self._given = body_groups(robot, load_places(robot, payloads, canonical=False))
        self._parameters = parameter_count(robot, payloads)

    @property
    def recursions(self) -> tuple[Callable[[], LoopSpec], ...]:
        """Return what makes the kernels that solve nothing."""
        return (
            self.inverse_dynamics,
            self.bias_force,
            self.gravity_force,
            self.inertial_effort,
            self.coriolis_effort,
            self.kinetic_energy,
            self.potential_energy,
            self.frame_poses,
        )

    def inverse_dynamics(self) -> LoopSpec:
        """Trace (19)-(30) with friction and armature."""
        return self._newton_euler('inverse_dynamics', 'qva', friction=True, armature=True)

    def bias_force(self) -> LoopSpec:
        """Trace C v + g."""
        return self._newton_euler('bias_force', 'qv')

    def gravity_force(self) -> LoopSpec:
        """Trace g."""
        return self._newton_euler('gravity_force', 'q')

    def inertial_effort(self) -> LoopSpec:
        """Trace M a."""
        return self._newton_euler('inertial_effort', 'qa', gravity=False, armature=True)

    def moving_effort(self) -> LoopSpec:
        """Trace M a + C v + g."""
        return self._newton_euler('moving_effort', 'qva', armature=True)

    def coriolis_effort(self) -> LoopSpec:
        """Trace C x."""

        def graph(group: BodyGroup, outer: Symbols, tips: Symbols, q: Any, v: Any, x: Any) -> Any:
            parts = [twist_from_vector(outer[k : k + 6]) for k in (0, 6, 12)]
            of_parent: Any = [AT_REST] * 3 if group.on_world else parts
            joint = group.body.motion(q, v)
            motions, wrench = outward_along(joint, group.body.inertia, of_parent, x)
            tau, in_parent = inward(joint, wrench + twist_from_vector(tips))
            return [[x for one in motions for x in vec6(one)], vec6(in_parent)], tau

        return self.loop('coriolis_effort', 'qvx', (TreePass(True, 18), TreePass(False, 6)), graph)

    def _newton_euler(
        self,
        name: str,
        inputs: str,
        *,
        gravity: bool = True,
        friction: bool = False,
        armature: bool = False,
    ) -> LoopSpec:
        """Trace the recursion; v or a that is no input is zero."""

        def graph(group: BodyGroup, outer: Symbols, tips: Symbols, **local: Any) -> Any:
            body = group.body
            v, a = (local.get(x, [0.0] * body.kind.nv) for x in 'va')
            joint = body.motion(local['q'], v)
            twist_parent, rate_parent = map(twist_from_vector, (outer[:6], outer[6:]))
            if group.on_world:
                twist_parent, rate_parent = AT_REST, fall_of(body) if gravity else AT_REST
            twist, rate, wrench = outward(
                joint, body.inertia, twist_parent, rate_parent, joint.twist_rate(a)
            )
            tau, in_parent = inward(joint, wrench + twist_from_vector(tips))
            if armature:
                tau = [t + rotor * x for t, rotor, x in zip(tau, body.armature, a, strict=True)]
            if friction:
                along = zip(tau, body.damping, body.friction, v, strict=True)
                tau = [t + speed_friction(d, f, x) for t, d, f, x in along]
            return [[*vec6(twist), *vec6(rate)], vec6(in_parent)], tau

        return self.loop(name, inputs, (TreePass(True, 12), TreePass(False, 6)), graph)

    def kinetic_energy(self) -> LoopSpec:
        """Trace T."""

        def graph(group: BodyGroup, outer: Symbols, q: Any, v: Any) -> Any:
            body = group.body
            twist_parent = AT_REST if group.on_world else twist_from_vector(outer)
            twist = body_twist(body.motion(q, v), twist_parent)
            energy = body_kinetic_energy(body.inertia, twist)
            for rotor, speed in zip(body.armature, v, strict=True):
                energy = energy + rotor_energy(rotor, speed)
            return [vec6(twist)], [energy]

        return self.loop('kinetic_energy', 'qv', (TreePass(True, 6),), graph, (), sum_of_bodies)

    def potential_energy(self) -> LoopSpec:
        """Trace V from first moments, tips to root."""

        def graph(group: BodyGroup, tips: Symbols, q: Any) -> Any:
            body = group.body
            mass = body.inertia.mass + tips[0]
            local = scale(pure(body.inertia.com), body.inertia.mass)
            joint = body.motion(q, [0.0] * body.kind.nv)
            moment = moment_in_parent(joint, mass, local + pure(tips[1:]))
            results = [-dot(pure(body.gravity), moment)] if group.on_world else []
            return [[mass, moment.x, moment.y, moment.z]], results

        return self.loop('potential_energy', 'q', (TreePass(False, 4),), graph, (), sum_of_bodies)

    def frame_poses(self) -> LoopSpec:
        """Trace positions and quaternions (w, x, y, z) of the named frames."""

        def graph(group: BodyGroup, outer: Symbols, q: Any) -> Any:
            pose = group.body.motion(q, [0.0] * group.body.kind.nv).pose
            pose = pose if group.on_world else as_pose(outer) * pose
            return [pose_numbers(pose)], []

        frames = [self.robot.frame(name) for name in self.frames]
        how = 'q', (TreePass(True, 7),), graph, (len(frames), 7)
        spec = self.loop('frame_poses', *how, groups=self._given)
        codes = []
        for on_world in (False, True):
            rows = [k for k, frame in enumerate(frames) if (frame.body == WORLD) is on_world]
            if rows:
                codes.append(_frame_code(frames, rows, len(self.robot.bodies), on_world))
        parents = (*spec.parents, *(frame.body for frame in frames))
        return replace(spec, groups=(*spec.groups, *codes), parents=parents)

    def forward_dynamics(self) -> LoopSpec:
        """Trace accelerations of a tree without constraints."""
        return self._articulated('forward_dynamics', 'qvu')

    def acceleration(self) -> LoopSpec:
        """Trace accelerations with time among the inputs, for steps."""
        return self._articulated('acceleration', 'qvut')

    def impulse(self) -> LoopSpec:
        """Trace speeds h after v, forces and implicit friction at `a`: (q, v, a, tau, (t, h))."""
        return self._impulse('impulse', drag_at='a')

    def kick(self) -> LoopSpec:
        """Trace speeds h after v, forces at `a`, friction that of the end: as for `impulse`."""
        return self._impulse('kick', drag_at='v')

    def _impulse(self, name: str, drag_at: str) -> LoopSpec:
        """Trace speeds x = v + h y in (M + h D) x = M v + h (tau - c)."""

        def graph(group: BodyGroup, *enter: Symbols, q: Any, h: Any, **local: Any) -> Any:
            body, (v, tau) = group.body, (local['v'], local['u'])
            along = zip(body.damping, body.friction, local[drag_at], strict=True)
            drag = [speed_drag(d, f, x, STICTION_SPEED) for d, f, x in along]
            effort = [u - d * x for u, d, x in zip(tau, drag, v, strict=True)]
            armature = [rotor + h[0] * d for rotor, d in zip(body.armature, drag, strict=True)]
            handed, y, rcond = articulated_body(group, enter, q, local['a'], effort, armature)
            return handed, [x + h[0] * rate for x, rate in zip(v, y, strict=True)], rcond

        return self.loop(name, 'qvauh', THERE_BACK_THERE, graph)

    def _articulated(self, name: str, inputs: str) -> LoopSpec:
        def graph(group: BodyGroup, *enter: Symbols, q: Any, v: Any, u: Any) -> Any:
            body = group.body
            along = zip(u, body.damping, body.friction, v, strict=True)
            effort = [tau - speed_friction(d, f, x) for tau, d, f, x in along]
            return articulated_body(group, enter, q, v, effort, body.armature)

        return self.loop(name, inputs, THERE_BACK_THERE, graph)

    def loop(
        self,
        name: str,
        inputs: str,
        passes: tuple[TreePass, ...],
        graph: Callable[..., Any],
        shape: tuple[int, ...] | None = None,
        indices: Callable[[BodyGroup], Places] = along_speeds,
        groups: Sequence[BodyGroup] = (),
    ) -> LoopSpec:
        """Return the kernel of a graph of one body, see `group_code`; in canonical frames."""
        sizes = tuple({'q': self.robot.nq, 't': 1, 'h': 2}.get(x, self.robot.nv) for x in inputs)
        shape = (self.robot.nv,) if shape is None else shape
        codes = [
            group_code(group, inputs, passes, graph, indices)
            for group in groups or self.canonical_robot
        ]
        parents, parameters = self.robot.parents, self._parameters
        return LoopSpec(name, sizes, (shape,), parents, passes, tuple(codes), parameters)


def _frame_code(
    frames: Sequence[Frame], rows: Sequence[int], first: int, on_world: bool
) -> GroupCode:
    """Return the code of named frames, which hang on bodies or the world and do not move there."""
    constants, from_parent = symbols('c', 7), symbols('p', 7)
    local = as_pose(constants)
    pose = pose_numbers(local if on_world else as_pose(from_parent) * local)
    function = body_function([constants, from_parent], [from_parent, pose, [1.0]])
    table = np.array([pose_numbers(frames[k].pose) for k in rows]).T
    indices = np.array([range(7 * k, 7 * k + 7) for k in rows]).T
    return GroupCode(tuple(first + k for k in rows), function, table, (), indices)


def as_pose(entries: list[ca.SX]) -> Pose:
    """Return the pose of a position and a quaternion (w, x, y, z)."""
    return Pose(make_quaternion(*entries[3:]), pure(entries[:3]))


def pose_numbers(pose: Pose) -> list[Any]:
    """Return position and quaternion (w, x, y, z) of a pose."""
    return [*vec3(pose.translation), *vec4(pose.rotation)]
