# SPDX-License-Identifier: Apache-2.0
"""
A disk slides down a ramp, sticks, and rolls on (Gillespie, example 1).

Generalized speeds u1 = qdot1 (up the ramp, along a1), u2 = r qdot2 (spin about a3) and an
auxiliary u3 along the normal a2, in which the ground holds the disk: its multiplier is the normal
force. Rolling, u1 + u2 = 0, comes and goes while the disk moves, as dry friction allows; its
multiplier is the friction. The simulation finds the instant.

Run ``python examples/rolling_disk_on_a_ramp.py``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.constraints.base import Constraint

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ramp:
    """
    A homogeneous disk on a ramp, with x along a1 (up the ramp) and y along its normal a2.

    Parameters
    ----------
    slope : float
        phi [rad].
    friction : float
        Coulomb's coefficient mu.
    mass, radius, gravity : float
        m [kg], r [m], g [m/s^2].

    """

    slope: float = 0.35
    friction: float = 0.2
    mass: float = 2.0
    radius: float = 0.3
    gravity: float = 9.81

    @cached_property
    def robot(self) -> kd.Robot:
        """Return slides along a1 and a2 and the disk's hinge along a3; v = their rates."""
        J = 0.5 * self.mass * self.radius**2
        inertia = kd.Inertia(self.mass, (0, 0, 0), np.diag([J / 2, J / 2, J]))
        bodies = [
            kd.Body('sled', '', kd.Joint('along', kd.Prismatic((1, 0, 0)))),
            kd.Body('lift', 'sled', kd.Joint('normal', kd.Prismatic((0, 1, 0)))),
            kd.Body('disk', 'lift', kd.Joint('spin', kd.Revolute((0, 0, 1))), inertia=inertia),
        ]
        field = -self.gravity * np.array([np.sin(self.slope), np.cos(self.slope), 0.0])
        return kd.Robot('disk_on_a_ramp', bodies, field)

    @cached_property
    def speeds(self) -> kd.GeneralizedSpeeds:
        """Return u1, u2 and the auxiliary speed: W = Y^-1 of (6)."""
        W = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0 / self.radius, 0.0]])
        return kd.generalized_speeds(self.robot, W, names=('u1', 'u2', 'auxiliary'))

    @cached_property
    def rolling_speed(self) -> kd.GeneralizedSpeeds:
        """Return u1 alone, with u2 = -u1 (7) substituted from the beginning."""
        W = np.array([[1.0], [0.0], [-1.0 / self.radius]])
        return kd.generalized_speeds(self.robot, W, names=('u1',))

    @property
    def contact(self) -> Floats:
        """Return the row of v that gives the slip u1 + u2 of the material point below."""
        return np.array([1.0, 0.0, self.radius])

    @cached_property
    def rolling(self) -> Constraint:
        """Return u1 + u2 = 0 (7); its multiplier is the friction on the disk along a1 [N]."""
        return kd.constraints.pfaffian(self.robot, lambda q, t: self.contact, label='rolling')

    @cached_property
    def ground(self) -> Constraint:
        """Return that the disk does not leave the ramp; its multiplier is N [N]."""
        return kd.constraints.lock(self.robot, 'normal')

    @cached_property
    def surface(self) -> kd.constraints.Contact:
        """Return the ramp as a contact that pushes, and holds the disk by dry friction."""
        distance = kd.constraints.holonomic(self.robot, lambda q, t: q[1], 'ground')
        return kd.constraints.contact(distance, self.rolling, friction=self.friction)


def motion(
    ramp: Ramp, q: Floats, v: Floats, friction: float = 0.0, rolling: bool = False
) -> kd.Motion:
    """Return the motion by Kane's equations under a given friction along a1 [N], or rolling."""
    rows = (ramp.rolling, ramp.ground) if rolling else (ramp.ground,)
    effort = friction * ramp.contact
    return kd.forward_dynamics(ramp.robot, q, v, effort, rows, 'kane', speeds=ramp.speeds)


def generalized_forces(
    ramp: Ramp, q: Floats, speeds: kd.GeneralizedSpeeds, friction: float, a: Floats
) -> tuple[Floats, Floats]:
    """
    Return F_r and F_r* of (32), (33), summed by hand from the partial velocities.

    Parameters
    ----------
    ramp : Ramp
        The disk.
    q : ndarray, shape (3,)
        Coordinates.
    speeds : GeneralizedSpeeds
        u.
    friction : float
        Force on the disk along a1 at the contact [N]: -F_f of the paper.
    a : ndarray, shape (3,)
        Accelerations vdot; the centre moves straight, so the disk's are constant in the world.

    """
    disk = kd.partial_velocities(ramp.robot, q, speeds)[-1]
    to_disk = kd.forward_kinematics(ramp.robot, q).pose('disk').rotation_matrix().T
    tensor = np.diag(ramp.robot.bodies[-1].inertia.tensor)
    weight = ramp.mass * ramp.robot.gravity
    resultant = to_disk @ (weight + friction * np.array([1.0, 0.0, 0.0]))
    moment = np.array([0.0, 0.0, ramp.radius * friction])
    momentum_rate = ramp.mass * (to_disk @ np.array([a[0], a[1], 0.0]))
    spin_rate = tensor * np.array([0.0, 0.0, a[2]])
    active = resultant @ disk.v + moment @ disk.omega
    inertia = -(momentum_rate @ disk.v + spin_rate @ disk.omega)
    return active, inertia


def recombined(forces: Floats, D: float = -1.0) -> float:
    """Return F~ = F_1 + D F_2 (44), (45); (47) with D = -1."""
    return float(forces[0] + D * forces[1])


@dataclass(frozen=True, eq=False)
class Phase:
    """
    A part of the motion in which the contact does not change.

    Parameters
    ----------
    kind : str
        'slides up', 'slides down' (the contact point along a1) or 'rolls'.
    time : ndarray, shape (n,)
        [s].
    q, v : ndarray, shape (n, 3)
        States.
    friction, normal : float
        Force of the ramp on the disk along a1 and a2 [N]; constant in a phase.
    impulse : float
        Greatest impulse on a speed at its beginning [N s, N m s].

    """

    kind: str
    time: Floats
    q: Floats
    v: Floats
    friction: float
    normal: float
    impulse: float


def phases(ramp: Ramp, q: Floats, v: Floats, duration: float) -> list[Phase]:
    """
    Return the motion as a list of phases: deletion and imposition of the rolling constraint.

    Where the slip vanishes the disk rolls on if the friction that rolling needs is within mu N;
    otherwise it slides on, against that friction.
    """
    steps = 20  # accelerations are constant: as many as a plot needs
    simulation = kd.EventSimulation(
        ramp.robot, {'ramp': ramp.surface}, q, v, step=duration / steps
    )
    found, impulse = [], 0.0
    contact, samples = _contact(ramp, simulation), [(0.0, simulation.q, simulation.v)]
    for _ in range(steps):
        seen = len(simulation.events)
        simulation.step(np.zeros(3))
        for event in simulation.events[seen:]:
            samples.append((event.time, event.q, event.v))
            found.append(_phase(contact, samples, impulse))
            contact, samples = _contact(ramp, simulation), samples[-1:]
            impulse = float(np.abs(event.impulse).max())
        samples.append((simulation.time, simulation.q, simulation.v))
    return [*found, _phase(contact, samples, impulse)]


def _contact(ramp: Ramp, simulation: kd.EventSimulation) -> tuple[str, float, float]:
    """Return what the contact does now, friction and normal force."""
    forces = simulation.forces
    normal = forces['ground']
    if simulation.states['ramp'] == 'sticks':
        return 'rolls', forces['rolling'], normal
    slip = ramp.contact @ simulation.v
    if abs(slip) < 1e-9:  # it begins
        slip = ramp.contact @ simulation.motion.acceleration
    return (
        'slides up' if slip > 0.0 else 'slides down',
        -ramp.friction * normal * np.sign(slip),
        normal,
    )


def _phase(
    contact: tuple[str, float, float], samples: list[tuple[float, Floats, Floats]], impulse: float
) -> Phase:
    kind, friction, normal = contact
    time, q, v = (np.array(x) for x in zip(*samples, strict=True))
    return Phase(kind, time, q, v, friction, normal, impulse)


def print_equations(ramp: Ramp) -> None:
    """Print the unconstrained equations (40), and both ways to the embedded one (42)."""
    q, v = np.array([0.0, 0.0, 0.3]), ramp.speeds.velocity(np.zeros(3), [0.9, -0.9, 0.0])
    rolling = motion(ramp, q, v, rolling=True)
    friction, normal = rolling.multipliers
    a = rolling.acceleration
    F, F_star = generalized_forces(ramp, q, ramp.speeds, 0.0, a)
    print('rolling, without the contact force    r = 1      r = 2  auxiliary')
    for name, force in (('F_r  [N]', F), ('F_r* [N]', F_star)):
        print(f'  {name:32s}' + ''.join(f'{x:11.6f}' for x in force))
    substituted = generalized_forces(ramp, q, ramp.rolling_speed, 0.0, a)
    print('  embedded, D = -1               recombination (44)   substitution (27)')
    for name, force, other in zip(('F~ ', 'F~*'), (F, F_star), substituted, strict=True):
        print(f'  {name:28s}{recombined(force):19.6f}{other[0]:20.6f}')
    u1_rate = rolling.acceleration[0]
    print(f"  u1' = {u1_rate:.6f} m/s^2 = -(2/3) g sin(phi)")
    print(f'  friction -(F_2 + F_2*) = {-(F + F_star)[1]:.6f} N, multiplier {friction:.6f} N')
    print(f'  normal force -(F_3 + F_3*) = {-(F + F_star)[2]:.6f} N, multiplier {normal:.6f} N')
    tangent, bound = np.tan(ramp.slope), 3.0 * ramp.friction
    print(f'  rolls if tan(phi) = {tangent:.4f} <= 3 mu = {bound:.4f}: {tangent <= bound}')


def print_phases(ramp: Ramp, parts: list[Phase]) -> None:
    """Print how the contact changes."""
    print('\n  from [s]     to [s]  contact      slip [m/s]  friction [N]   normal [N]')
    for part in parts:
        slip = ramp.contact @ part.v[0]
        print(
            f'{part.time[0]:10.6f} {part.time[-1]:10.6f}  {part.kind:12s}{slip:11.6f}'
            f'{part.friction:14.6f}{part.normal:13.6f}'
        )
    if parts[-1].kind == 'rolls' and len(parts) > 1:
        print(f'impulse when rolling begins: {parts[-1].impulse:.1e} N s, N m s')


def write_plot(ramp: Ramp, parts: list[Phase], path: Path) -> None:
    """Write slip and friction over time."""
    from matplotlib.figure import Figure

    from kane_dynamics.view.plots import COLUMN, legend_beside, paper_style, save_figure

    with paper_style():
        figure = Figure((COLUMN, 3.6), layout='constrained')
        top, bottom = figure.subplots(2, sharex=True)
        for part in parts:
            top.plot(part.time, part.v @ ramp.contact, label=part.kind)
            bottom.plot(part.time[[0, -1]], [part.friction] * 2)
        top.set_ylabel('slip u1 + u2 [m/s]')
        bottom.set(xlabel='time [s]', ylabel='friction along a1 [N]')
        legend_beside(top)
        figure.suptitle('A disk on a ramp')
    save_figure(figure, path)


def main(arguments: list[str] | None = None) -> None:
    """Print the equations and the motion; write the plot."""
    parser = argparse.ArgumentParser(description='a disk slides, sticks and rolls')
    parser.add_argument('--slope', type=float, default=0.35, help='of the ramp [rad]')
    parser.add_argument('--friction', type=float, default=0.2, help="Coulomb's coefficient")
    parser.add_argument('--output', type=Path, default=Path('examples-results'))
    chosen = parser.parse_args(arguments)
    ramp = Ramp(chosen.slope, chosen.friction)
    print_equations(ramp)
    start = ramp.speeds.velocity(np.zeros(3), [1.0, 0.0, 0.0])
    parts = phases(ramp, np.zeros(3), start, 0.4)
    print_phases(ramp, parts)
    chosen.output.mkdir(parents=True, exist_ok=True)
    write_plot(ramp, parts, chosen.output / 'rolling_disk_on_a_ramp.png')


if __name__ == '__main__':
    main()
