# SPDX-License-Identifier: Apache-2.0
"""
A shopping cart whose caster sticks and comes loose while it moves (Gillespie, example 3).

Speeds u1 = v(P1) . b1, u2 = omega(B) . n3, u3 = omega(C) . n3; the rear wheels are built into
them. The caster's particle P3 moves along c1 only (59). A stuck caster adds u3 = u2 (64) with an
impulse, and is let go of when its torque exceeds a limit. A hand pushes through a virtual
coupler. A steered caster passes cos(q4) = L3/L2, where u1 cannot be the independent speed.

Run ``python examples/shopping_cart.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import cos, sin
from kane_dynamics.constraints.base import Constraint

Floats = NDArray[np.float64]
Push = Callable[[float, Floats, Floats], Floats]


def rolling_speeds(q: Sequence[Any], t: Any) -> list[list[Any]]:
    """Return W of (57): v = (x', y', q3', q4') of the base and the caster = W u."""
    c, s = cos(q[2]), sin(q[2])
    return [[c, 0.0, 0.0], [s, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 1.0]]


@dataclass(frozen=True)
class Cart:
    """
    The cart in top view: body B, caster C as a particle at P3.

    Parameters
    ----------
    com, pivot, trail : float
        L1 and L2, from the middle P1 of the rear axle to Bo and to the caster's pivot P2, and L3,
        from the pivot back to P3 [m].
    body_mass, caster_mass, body_inertia : float
        m_B, m_C [kg], and I_B, central [kg m^2].
    torque_limit : float
        What a stuck caster holds about its pivot [N m].

    """

    com: float = 0.4
    pivot: float = 0.9
    trail: float = 0.15
    body_mass: float = 20.0
    caster_mass: float = 1.5
    body_inertia: float = 2.5
    torque_limit: float = 3.0

    @cached_property
    def robot(self) -> kd.Robot:
        """Return a body on a plane, and the caster on its hinge."""
        body = kd.Inertia(self.body_mass, (self.com, 0, 0), np.diag([0, 0, self.body_inertia]))
        particle = kd.Inertia(self.caster_mass, (-self.trail, 0, 0), np.zeros((3, 3)))
        pivot = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (self.pivot, 0, 0))
        hinge = kd.Joint('caster', kd.Revolute((0, 0, 1)))
        bodies = [
            kd.Body('B', '', kd.Joint('base', kd.Planar()), inertia=body),
            kd.Body('C', 'B', hinge, pivot, particle),
        ]
        return kd.Robot('shopping_cart', bodies, (0, 0, 0))

    @cached_property
    def speeds(self) -> kd.GeneralizedSpeeds:
        """Return u1, u2, u3 of (51)-(53)."""
        return kd.generalized_speeds(self.robot, rolling_speeds)

    @cached_property
    def caster(self) -> Constraint:
        """Return v(P3) . c2 = 0 (58); its multiplier is the side force on the caster [N]."""

        def row(q: Sequence[Any], t: Any) -> list[Any]:
            yaw = q[2] + q[3]
            return [-np.sin(yaw), np.cos(yaw), self.pivot * np.cos(q[3]) - self.trail, -self.trail]

        return kd.constraints.pfaffian(self.robot, row, label='caster')

    @cached_property
    def stuck(self) -> Constraint:
        """Return q4' = 0; its multiplier is the torque of B on C about the pivot [N m]."""
        return kd.constraints.lock(self.robot, 'caster')

    def steered(self, rate: float) -> Constraint:
        """Return that a motor turns the caster on its pivot with q4' = rate [rad/s]."""
        row = np.array([0.0, 0.0, 0.0, 1.0])
        return kd.constraints.pfaffian(self.robot, lambda q, t: row, lambda q, t: rate, 'motor')

    def efforts(self, q: Floats, force: float, couple: float) -> Floats:
        """Return the efforts of a force along b1 at P1 [N] and a couple on B [N m]."""
        return np.array([force * np.cos(q[2]), force * np.sin(q[2]), couple, 0.0])

    def motion(self, q: Floats, u: Floats, tau: Floats, rows: Sequence[Constraint]) -> kd.Motion:
        """Return the motion by Kane's equations in u."""
        v = self.speeds.velocity(q, u)
        return kd.forward_dynamics(self.robot, q, v, tau, rows, 'kane', speeds=self.speeds)

    def energy(self, q: Floats, u: Floats) -> float:
        """Return the kinetic energy [J]."""
        return kd.kinetic_energy(self.robot, q, self.speeds.velocity(q, u))

    def after_impact(self, q: Floats, u: Floats, rows: Sequence[Constraint]) -> Floats:
        """Return u after an inelastic impulse that imposes the rows (and the rear wheels)."""
        v = self.speeds.velocity(q, u)
        rear_wheels = kd.constraints.no_side_slip(self.robot)  # elsewhere built into the speeds
        v = kd.simulation.project(self.robot, (rear_wheels, *rows), q, v, 0.0)[1]
        return self.speeds.speeds(q, v)

    def integrated(
        self,
        q: Floats,
        u: Floats,
        span: tuple[float, float],
        rows: Sequence[Constraint],
        push: Push,
        until: Callable[[float, Floats], float] | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return times, q and u under constant rows, up to where `until` crosses zero."""

        def rate(t: float, y: Floats) -> Floats:
            motion = self.motion(y[:4], y[4:], push(t, y[:4], y[4:]), rows)
            return np.concatenate([self.speeds.velocity(y[:4], y[4:]), motion.details.u_rate])

        if until is not None:
            until.terminal = True  # an attribute that solve_ivp asks for
        start = np.concatenate([q, u])
        found = solve_ivp(rate, span, start, events=until, rtol=1e-8, atol=1e-10, max_step=0.05)
        return found.t, found.y[:4].T, found.y[4:].T


def instant(cart: Cart) -> tuple[Floats, Floats]:
    """Return q and u of the tables: a free caster at q4 = 0.6."""
    u1, u2, q4 = 1.1, 0.35, 0.6
    u3 = (-np.sin(q4) * u1 + cart.pivot * np.cos(q4) * u2) / cart.trail  # (60)
    return np.array([1.0, -2.0, 0.8, q4]), np.array([u1, u2, u3])


def coupler(cart: Cart, handle: Floats, t: float, q: Floats, u: Floats) -> Floats:
    """
    Return the efforts of springs and dampers to a handle that moves on; it feels the opposite.

    Parameters
    ----------
    cart, t, q, u : Cart, float, ndarray, ndarray
        The cart and its state at a time [s].
    handle : ndarray, shape (3,)
        x, y, yaw of the handle at t = 0 [m, rad]; it speeds up straight ahead and turns.

    """
    ahead = np.array([np.cos(handle[2]), np.sin(handle[2])])
    pose = handle + np.append((1.1 * t + 0.5 * t**2) * ahead, 0.35 * t)
    rate = np.append((1.1 + t) * ahead, 0.35)
    K, B = np.array([300.0, 300.0, 60.0]), np.array([60.0, 60.0, 12.0])  # [N/m], [N m/rad], ...
    v = cart.speeds.velocity(q, u)
    return np.append(K * (pose - q[:3]) + B * (rate - v[:3]), 0.0)


@dataclass(frozen=True, eq=False)
class Phase:
    """A part of the motion: 'free' or 'stuck', times, q, u, and the torque in a stuck pivot."""

    kind: str
    time: Floats
    q: Floats
    u: Floats
    torque: Floats


def phases(cart: Cart, sticks_at: float = 0.2, duration: float = 0.8) -> list[Phase]:
    """
    Return the motion by a hand: free, stuck from a time on, free again beyond the torque limit.

    Imposing the constraint changes u by an impulse; deleting it does not.
    """
    q, u = instant(cart)
    push, held = partial(coupler, cart, q[:3]), (cart.caster, cart.stuck)

    def torque(t: float, y: Floats) -> float:
        return float(cart.motion(y[:4], y[4:], push(t, y[:4], y[4:]), held).multipliers[1])

    def reserve(t: float, y: Floats) -> float:
        return cart.torque_limit - abs(torque(t, y))

    found, t = [], 0.0
    for kind, end in (('free', sticks_at), ('stuck', duration), ('free', duration)):
        rows, until = (held, reserve) if kind == 'stuck' else ((cart.caster,), None)
        u = cart.after_impact(q, u, rows) if kind == 'stuck' else u
        times, qs, us = cart.integrated(q, u, (t, end), rows, push, until)
        states = zip(times, np.hstack([qs, us]), strict=True)
        torques = np.array([torque(*x) if kind == 'stuck' else 0.0 for x in states])
        found.append(Phase(kind, times, qs, us, torques))
        t, q, u = float(times[-1]), qs[-1], us[-1]
    return found


def steering(cart: Cart) -> tuple[Floats, Floats, list[str]]:
    """Return q and u of a motion with q4' = 1 rad/s, and the independent speeds."""
    rows = (cart.caster, cart.steered(1.0))
    q = np.array([0.0, 0.0, 0.8, 0.4])
    u = cart.after_impact(q, np.array([0.3, 0.3, 1.3]), rows)

    def push(t: float, q: Floats, u: Floats) -> Floats:
        return cart.efforts(q, 5.0, 1.2)

    times, qs, us = cart.integrated(q, u, (0.0, 1.3), rows, push)
    chosen = []
    for state in zip(times, qs, us, strict=True):
        partition = cart.motion(*state[1:], push(*state), rows).details.partition
        chosen.append(cart.speeds.names[partition.independent[0]])
    return qs, us, chosen


def print_instants(cart: Cart) -> None:
    """Print free and stuck motion at the state of the tables, and the impulse between them."""
    q, u = instant(cart)
    held = (cart.caster, cart.stuck)
    after = cart.after_impact(q, u, held)
    print("                u1          u2          u3         u1'         u2'         u3'")
    for name, rows, speeds in (
        ('free', (cart.caster,), u),
        ('stuck', held, after * u[0] / after[0]),
        ('after the impulse', held, after),
    ):
        motion = cart.motion(q, speeds, cart.efforts(q, 5.0, 1.2), rows)
        print(name)
        print('      ' + ''.join(f'{x:12.6f}' for x in (*speeds, *motion.details.u_rate)))
        forces = ', '.join(f'{x:.6f}' for x in motion.multipliers)
        print(f'      energy {cart.energy(q, speeds):.6f} J; side force, pivot torque: {forces}')


def print_phases(parts: list[Phase], cart: Cart) -> None:
    """Print the switching."""
    print('\n  time [s]  caster          u1         u2         u3   energy [J]  jump of u')
    before = parts[0].u[0]
    for part in parts:
        u, jump = part.u[0], np.abs(part.u[0] - before).max()
        values = ''.join(f'{x:11.6f}' for x in (*u, cart.energy(part.q[0], u), jump))
        print(f'{part.time[0]:10.6f}  {part.kind:8s}{values}')
        before = part.u[-1]
    print(f'the pivot lets go at {parts[1].torque[-1]:.6f} N m')


def print_steering(cart: Cart) -> None:
    """Print how the independent speed changes while the caster is steered."""
    q, u, chosen = steering(cart)
    singular = np.arccos(cart.trail / cart.pivot)
    print(f'\nu1 cannot be independent at q4 = {singular:.6f} rad: a steered caster passes it')
    print('   q4 [rad]  independent  k = u2/u1 of (65)         u1         u2')
    for j in np.unique(np.searchsorted(q[:, 3], np.arange(0.4, 1.7, 0.1))):
        k = np.sin(q[j, 3]) / (cart.pivot * np.cos(q[j, 3]) - cart.trail)
        print(f'{q[j, 3]:11.6f}  {chosen[j]:12s}{k:17.4f}{u[j, 0]:14.6f}{u[j, 1]:11.6f}')


def write_plot(parts: list[Phase], path: Path) -> None:
    """Write speeds and pivot torque over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout='constrained')
    top, bottom = figure.subplots(2, sharex=True)
    times = np.concatenate([part.time for part in parts])
    top.plot(times, np.concatenate([part.u[:, :2] for part in parts]), label=['u1', 'u2'])
    bottom.plot(times, np.concatenate([part.torque for part in parts]))
    top.set_ylabel('u1 [m/s], u2 [rad/s]')
    top.legend()
    bottom.set_ylabel('torque in the pivot [N m]')
    bottom.set_xlabel('time [s]')
    figure.savefig(path, dpi=120)


def main(arguments: list[str] | None = None) -> None:
    """Print the motions; write the plot."""
    parser = argparse.ArgumentParser(description='a cart with a caster that sticks')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    cart = Cart()
    print_instants(cart)
    parts = phases(cart)
    print_phases(parts, cart)
    print_steering(cart)
    chosen.output.mkdir(parents=True, exist_ok=True)
    write_plot(parts, chosen.output / 'shopping_cart.png')


if __name__ == '__main__':
    main()
