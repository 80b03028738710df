# SPDX-License-Identifier: Apache-2.0
"""
A shopping cart whose caster sticks and comes loose while it moves (Gillespie, example 3).

Speeds u1 = v(P1) . b1, u2 = omega(B) . n3, u3 = omega(C) . n3; the rear wheels are built into
them. The caster's particle P3 moves along c1 only (59). A stuck caster adds u3 = u2 (64) with an
impulse, and is let go of when its torque exceeds a limit: a constraint that comes and goes by name
in a simulation. A hand pushes through a virtual coupler. A steered caster passes cos(q4) = L3/L2,
where u1 = 0: the simulation chooses other independent speeds before.

Run ``python examples/shopping_cart.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.algebra.scalars import cos, sin
from kane_dynamics.constraints.base import Constraint

Floats = NDArray[np.float64]
HAND_STEP = 0.01  # [s] between commands of the hand


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
    def rear_wheels(self) -> Constraint:
        """Return v(P1) . b2 = 0, which the speeds u have built in; its multiplier is a force."""
        return kd.constraints.no_side_slip(self.robot)

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

    def simulation(
        self, q: Floats, u: Floats, step: float, **parts: Constraint
    ) -> kd.EventSimulation:
        """Return the cart on its wheels, with other parts by name, in time."""
        held = {'rear wheels': self.rear_wheels, 'caster': self.caster, **parts}
        v = self.speeds.velocity(q, u)
        return kd.EventSimulation(self.robot, held, q, v, step=step)


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
class Ride:
    """A motion: times, q, u, efforts before and torque in the pivot after each; its events."""

    time: Floats
    q: Floats
    u: Floats
    efforts: Floats
    torque: Floats
    events: tuple[kd.Event, ...]


def ride(cart: Cart, sticks_at: float = 0.2, duration: float = 0.8) -> Ride:
    """
    Return the motion by a hand: free, stuck from a time on, free again beyond the torque limit.

    Imposing the constraint changes u by an impulse; deleting it does not.
    """
    q, u = instant(cart)
    simulation = cart.simulation(q, u, HAND_STEP)
    samples = [(0.0, q, u, np.zeros(4), 0.0)]
    for k in range(round(duration / HAND_STEP)):
        if k == round(sticks_at / HAND_STEP):
            simulation.add('stuck', cart.stuck, limit=cart.torque_limit)
        place, speeds = simulation.q, cart.speeds.speeds(simulation.q, simulation.v)
        tau = coupler(cart, q[:3], simulation.time, place, speeds)
        simulation.step(tau)
        end = simulation.q, cart.speeds.speeds(simulation.q, simulation.v)
        torque = simulation.forces.get('caster/lock', 0.0)
        samples.append((simulation.time, *end, tau, torque))
    columns = (np.array(x) for x in zip(*samples, strict=True))
    return Ride(*columns, simulation.events)


def steering(cart: Cart) -> tuple[Floats, Floats, list[str]]:
    """Return q and v of a motion with q4' = 1 rad/s, and the independent speeds."""
    start = np.array([0.0, 0.0, 0.0, 0.2])
    u = np.array([0.3, 0.1, 1.1])
    simulation = cart.simulation(start, u, 0.02, motor=cart.steered(1.0))
    samples = []
    for _ in range(75):
        simulation.step(cart.efforts(simulation.q, 5.0, 1.2))
        samples.append((simulation.q, simulation.v, ' '.join(simulation.independent_speeds)))
    q, v, chosen = zip(*samples, strict=True)
    return np.array(q), np.array(v), list(chosen)


def print_instants(cart: Cart) -> None:
    """Print free and stuck motion at the state of the tables, and the impulse between them."""
    q, u = instant(cart)
    held = (cart.caster, cart.stuck)
    after = cart.speeds.speeds(q, cart.simulation(q, u, HAND_STEP).add('stuck', cart.stuck).v)
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


def print_events(cart: Cart, found: Ride) -> None:
    """Print what the simulation tells."""
    print()
    for event in found.events:
        u = cart.speeds.speeds(event.q, event.v)
        print(event)
        print('      u ' + ''.join(f'{x:12.6f}' for x in u), end='')
        print(f'  energy {cart.energy(event.q, u):.6f} J')


def print_steering(cart: Cart) -> None:
    """Print how the independent speed changes while the caster is steered."""
    q, v, chosen = steering(cart)
    singular = np.arccos(cart.trail / cart.pivot)
    print(f'\nu1 = 0 at q4 = {singular:.6f} rad: a steered caster passes it')
    print('   q4 [rad]  independent     k of (65)         u1         u2')
    for j in range(4, len(q), 5):
        k = np.sin(q[j, 3]) / (cart.pivot * np.cos(q[j, 3]) - cart.trail)
        u = cart.speeds.speeds(q[j], v[j])
        print(f'{q[j, 3]:11.6f}  {chosen[j]:12s}{k:13.4f}{u[0]:14.6f}{u[1]:11.6f}')


def write_plot(cart: Cart, found: Ride, path: Path) -> None:
    """Write speeds and pivot torque over time."""
    from kane_dynamics.view.plots import Panel, write_curves

    times = [event.time for event in found.events]
    after = np.searchsorted(found.time, times, side='right')  # u and torque jump at an event
    changed = np.array([cart.speeds.speeds(event.q, event.v) for event in found.events])
    u = np.insert(found.u, after, changed, axis=0)
    panels = [
        Panel('speed [m/s]', {'u1': u[:, 0]}),
        Panel('rate [rad/s]', {'u2': u[:, 1]}),
        Panel('torque [N m]', {'pivot': np.insert(found.torque, after, found.torque[after])}),
    ]
    named = list(zip(times, ('sticks', 'comes loose'), strict=True))
    time = np.insert(found.time, after, times)
    write_curves(path, 'A cart with a caster that sticks', time, panels, named)


def main(arguments: list[str] | None = None) -> None:
    """Print the motions; write the plot."""
    parser = argparse.ArgumentParser(description='a cart with a caster that sticks')
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    cart = Cart()
    print_instants(cart)
    found = ride(cart)
    print_events(cart, found)
    print_steering(cart)
    chosen.output.mkdir(parents=True, exist_ok=True)
    write_plot(cart, found, chosen.output / 'shopping_cart.png')


if __name__ == '__main__':
    main()
