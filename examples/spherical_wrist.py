# SPDX-License-Identifier: Apache-2.0
"""
The choice of generalized speeds: a spherical wrist moves in two of them (Gillespie, example 2).

The wrist turns by q1, q2, q3 about axes 3-2-3; n1 points up, the load's centre of mass Co is on
c3. Choice A is u = qdot; choice B is u_i = omega . c_i, the angular velocity of the load in its
own axes. Both move alike; the equations of B are Euler's and far shorter, and only their
kinematic part is singular at sin(q2) = 0.

Run ``python examples/spherical_wrist.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import cos, sin

Floats = NDArray[np.float64]

# The instant of the tables: angles [rad], omega in C [rad/s], couple [N m] and force [N] in C.
ANGLES, OMEGA = np.array([0.4, 0.8, -0.5]), np.array([0.3, -0.2, 1.1])
COUPLE, FORCE = np.array([0.1, -0.2, 0.05]), np.array([1.0, 2.0, -0.5])
# Table 3 of the paper: multiply and divide, add and subtract, sin and cos.
TABLE_3 = {'A dynamics': (790, 285, 372), '(50)': (10, 4, 9), '(49)': (29, 16, 10)}
KINDS = (
    frozenset((ca.OP_MUL, ca.OP_SQ, ca.OP_DIV, ca.OP_INV)),
    frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE, ca.OP_NEG)),
    frozenset((ca.OP_SIN, ca.OP_COS)),
)


def angle_rates(q: Sequence[Any], t: Any) -> list[list[Any]]:
    """Return W of qdot = W u with u = omega . c_i (50); singular at sin(q2) = 0."""
    s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    return [[-c3 / s2, s3 / s2, 0.0], [s3, c3, 0.0], [c2 * c3 / s2, -c2 * s3 / s2, 1.0]]


@dataclass(frozen=True)
class Wrist:
    """
    A load on a spherical wrist of massless links.

    Parameters
    ----------
    moments : tuple of float
        I1, I2, I3 about c1, c2, c3 through Co [kg m^2].
    mass, length, gravity : float
        M [kg], L from the wrist's centre to Co [m], G [m/s^2].

    """

    moments: tuple[float, float, float] = (0.02, 0.03, 0.01)
    mass: float = 1.2
    length: float = 0.15
    gravity: float = 9.81

    @property
    def _load(self) -> kd.Inertia:
        return kd.Inertia(self.mass, (0.0, 0.0, self.length), np.diag(self.moments))

    def _robot(self, bodies: Sequence[kd.Body]) -> kd.Robot:
        at_com = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0.0, 0.0, self.length))
        frames = {'Co': kd.Frame(len(bodies) - 1, at_com)}
        return kd.Robot('wrist', bodies, (-self.gravity, 0.0, 0.0), frames)

    @cached_property
    def robot(self) -> kd.Robot:
        """Return the wrist as three hinges; v = qdot."""
        hinge_2, hinge_3 = kd.Revolute((0, 1, 0)), kd.Revolute((0, 0, 1))
        return self._robot(
            [
                kd.Body('A', '', kd.Joint('q1', hinge_3)),
                kd.Body('B', 'A', kd.Joint('q2', hinge_2)),
                kd.Body('C', 'B', kd.Joint('q3', hinge_3), inertia=self._load),
            ]
        )

    @cached_property
    def ball(self) -> kd.Robot:
        """Return the wrist as one ball joint: a quaternion, and v = omega in C."""
        return self._robot([kd.Body('C', '', kd.Joint('q', kd.Spherical()), inertia=self._load)])

    @cached_property
    def choice_a(self) -> kd.GeneralizedSpeeds:
        """Return u = qdot (48)."""
        return kd.generalized_speeds(self.robot, np.eye(3), names=('qdot1', 'qdot2', 'qdot3'))

    @cached_property
    def choice_b(self) -> kd.GeneralizedSpeeds:
        """Return u_i = omega . c_i (50)."""
        return kd.generalized_speeds(self.robot, angle_rates, names=('w1', 'w2', 'w3'))

    def speed_rates(
        self,
        speeds: kd.GeneralizedSpeeds,
        q: ArrayLike,
        u: ArrayLike,
        couple: ArrayLike = COUPLE,
        force: ArrayLike = FORCE,
    ) -> Floats:
        """Return udot under a couple [N m] and a force at Co [N], both in the axes of C."""
        load = {'Co': np.concatenate([couple, force])}
        v = speeds.velocity(q, u)
        motion = kd.forward_dynamics(
            self.robot, q, v, np.zeros(3), (), 'kane', speeds=speeds, external_wrenches=load
        )
        u_rate: Floats = motion.details.u_rate
        return u_rate

    def motion(
        self, speeds: kd.GeneralizedSpeeds, q: ArrayLike, u: ArrayLike, duration: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return times, q and qdot while the load of `COUPLE` and `FORCE` acts."""

        def rate(t: float, y: Floats) -> Floats:
            q, u = y[:3], y[3:]
            return np.concatenate([speeds.velocity(q, u), self.speed_rates(speeds, q, u)])

        found = solve_ivp(
            rate, (0.0, duration), np.concatenate([q, u]), 'DOP853', rtol=1e-9, atol=1e-10
        )
        qs, us = found.y[:3].T, found.y[3:].T
        return found.t, qs, np.array([speeds.velocity(*x) for x in zip(qs, us, strict=True)])


def quaternion_of(q: Sequence[Any]) -> list[Any]:
    """Return the quaternion (w, x, y, z) of the angles 3-2-3 [rad]."""
    half, total, gap = 0.5 * q[1], 0.5 * (q[0] + q[2]), 0.5 * (q[0] - q[2])
    c, s = cos(half), sin(half)
    return [c * cos(total), -s * sin(gap), s * cos(gap), c * sin(total)]


def graphs(wrist: Wrist) -> dict[str, ca.Function]:
    """
    Return the traced equations: udot(q, u, T, F) of both choices, and qdot(q, u) of B.

    The package does not know that sin^2 + cos^2 = 1: the dynamics of B are those of a ball joint,
    whose own speeds are omega in C, at the quaternion of the angles.
    """
    q, u, T, F = (ca.SX.sym(name, 3) for name in 'quTF')
    angles, L = ca.vertsplit(q), wrist.length
    moment = ca.vertcat(T[0] - L * F[1], T[1] + L * F[0], T[2])  # of the load, in C
    s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    axes = [(-s2 * c3, s2 * s3, c2), (s3, c3, 0.0), (0.0, 0.0, 1.0)]  # of the hinges, in C
    efforts = ca.vertcat(*[ca.dot(ca.vertcat(*axis), moment) for axis in axes])
    hinges = kd.casadi_function(wrist.robot, 'forward_dynamics')
    ball = kd.casadi_function(wrist.ball, 'forward_dynamics')
    turned = ca.vertcat(*quaternion_of(angles))
    W = ca.vertcat(*[ca.horzcat(*row) for row in angle_rates(angles, 0.0)])
    results = {'A dynamics': hinges(q, u, efforts), '(50)': W @ u, '(49)': ball(turned, u, moment)}
    return {
        name: ca.Function('graph', [q, u, T, F], [ca.cse(result)])
        for name, result in results.items()
    }


def operations(graph: ca.Function, written_out: bool = False) -> tuple[int, ...]:
    """
    Return how many operations of each of `KINDS` a graph has.

    Parameters
    ----------
    graph : casadi.Function
        Of ``SX`` expressions.
    written_out : bool
        Whether every output is a formula of its own, as in print; otherwise what occurs more
        than once is computed once.

    """
    cost: dict[int, Floats] = {}
    computed, printed = np.zeros(len(KINDS), int), np.zeros(len(KINDS), int)
    for k in range(graph.n_instructions()):
        code = graph.instruction_id(k)
        target, source = graph.instruction_output(k), graph.instruction_input(k)
        own = np.array([code in kind for kind in KINDS], int)
        computed += own
        if code == ca.OP_OUTPUT:
            printed += cost[source[0]]
        elif code in (ca.OP_INPUT, ca.OP_CONST):
            cost[target[0]] = own
        else:
            cost[target[0]] = own + sum(cost[x] for x in source)
    return tuple(int(n) for n in (printed if written_out else computed))


def print_instant(wrist: Wrist) -> None:
    """Print the accelerations at one state in both choices."""
    rates = wrist.choice_b.velocity(ANGLES, OMEGA)
    for name, speeds, u in (('A', wrist.choice_a, rates), ('B', wrist.choice_b, OMEGA)):
        u_rate = wrist.speed_rates(speeds, ANGLES, u)
        print(f'{name}: u    = ' + ''.join(f'{x:16.9f}' for x in u))
        print("   u'   = " + ''.join(f'{x:16.9f}' for x in u_rate))
    print('   qdot = ' + ''.join(f'{x:16.9f}' for x in rates))


def print_operations(wrist: Wrist) -> None:
    """Print operations of both choices next to Table 3."""
    print('\noperations                                     mult, div  add, sub  sin, cos')
    for name, graph in graphs(wrist).items():
        counts = {
            'Table 3 of the paper': TABLE_3[name],
            'traced, written out': operations(graph, written_out=True),
            'traced, each value computed once': operations(graph),
        }
        for what, count in counts.items():
            print(f'  {name:11s}{what:33s}' + ''.join(f'{n:10d}' for n in count))


def print_singularity(wrist: Wrist) -> None:
    """Print what becomes of both choices when the axes 1 and 3 align."""
    print('\n   q2 [rad]   cond(M) of A   cond(Q) of B    largest |W| of B')
    for angle in (0.8, 1e-1, 1e-2, 1e-3):
        q = np.array([0.4, angle, -0.5])
        M, W = kd.mass_matrix(wrist.robot, q), wrist.choice_b.matrices(q)[0]
        conditions = np.linalg.cond(M), np.linalg.cond(W.T @ M @ W)
        print(f'{angle:11.3f}{conditions[0]:15.3e}{conditions[1]:15.3f}{np.abs(W).max():20.3e}')
    turned = quaternion_of([0.4, 0.0, -0.5])
    load = {'Co': np.concatenate([COUPLE, FORCE])}
    motion = kd.forward_dynamics(wrist.ball, turned, OMEGA, np.zeros(3), external_wrenches=load)
    print("aligned, B on a ball joint: u' =" + ''.join(f'{x:12.6f}' for x in motion.acceleration))


def write_plot(t: Floats, q: Floats, path: Path) -> None:
    """Write the angles over time."""
    from kane_dynamics.view.plots import Panel, write_curves

    angles = dict(zip(('q1', 'q2', 'q3'), q.T, strict=True))
    write_curves(path, 'Angles of a spherical wrist', t, [Panel('angle [rad]', angles)])


def main(arguments: list[str] | None = None) -> None:
    """Print the comparison of the two choices; write the motion."""
    parser = argparse.ArgumentParser(description='two choices of generalized speeds')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    wrist = Wrist()
    print_instant(wrist)
    ends = []
    rates = wrist.choice_b.velocity(ANGLES, OMEGA)
    for speeds, u in ((wrist.choice_a, rates), (wrist.choice_b, OMEGA)):
        t, q, v = wrist.motion(speeds, ANGLES, u, 0.3)
        ends.append(np.concatenate([q[-1], v[-1]]))
    print(f'\nafter {t[-1]} s both choices differ by {np.abs(ends[1] - ends[0]).max():.1e}')
    print_operations(wrist)
    print_singularity(wrist)
    chosen.output.mkdir(parents=True, exist_ok=True)
    write_plot(t, q, chosen.output / 'spherical_wrist.png')


if __name__ == '__main__':
    main()
