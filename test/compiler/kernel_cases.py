# SPDX-License-Identifier: Apache-2.0
"""Robots for the tests of compiled code, and what compiled functions are compared with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from support.machines import (
    DRIVE,
    X,
    Y,
    Z,
    differential_drive,
    four_bar,
    four_bar_coordinates,
    inertia,
    massless_wrist,
    planar_2r,
    prismatic,
    sled_with_arm,
    turned,
)
from support.trees import random_state

import kane_dynamics as kd
from studies.random_robots import random_tree

AGREEMENT = 1e-10  # asked for by the contract
# name -> arguments; the functions of CompiledDynamics that are also functions of the package
FUNCTIONS = {
    'inverse_dynamics': 'qva',
    'bias_force': 'qv',
    'gravity_force': 'q',
    'mass_matrix': 'q',
    'coriolis_matrix': 'qv',
    'kinetic_energy': 'qv',
    'potential_energy': 'q',
}


@dataclass(frozen=True)
class Case:
    """A robot, its constraints, and, where only some are possible, what gives coordinates."""

    robot: kd.Robot
    constraints: tuple = ()
    coordinates: Callable | None = None

    def state(self, rng):
        """Return q, v, a in general position on the constraints."""
        q, v, a = random_state(self.robot, rng)
        if self.coordinates is not None:
            q = self.coordinates(rng)
        if self.constraints:
            q, v = kd.simulation.project(self.robot, self.constraints, q, v, 0.0)
        return q, v, a


def _drive():
    robot = differential_drive(arm=True, damping=0.4, friction=0.2, armature=0.01)
    return Case(robot, (kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r']),))


def _sled():
    robot = sled_with_arm()
    return Case(robot, (kd.constraints.no_side_slip(robot, -0.1),))


def _linkage():
    robot = four_bar()
    loop = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end')
    return Case(robot, (loop,), lambda rng: four_bar_coordinates(rng.uniform(0.4, 2.8)))


def _slides():
    """Return three slides in a row, one of them with everything that a joint can have."""
    load = inertia(1.3, (0.1, 0.2, -0.1), (0.1, 0.2, 0.3))
    bodies = [
        kd.Body('a', '', prismatic('a', X), inertia=load),
        kd.Body('b', 'a', prismatic('b', (1, 2, 3), damping=0.3, friction=0.2), inertia=load),
        kd.Body('c', 'b', prismatic('c', Z, armature=0.2), turned(Y, 0.4, (1, 0, 0)), load),
    ]
    return Case(kd.Robot('slides', bodies))


def _dead_centre():
    """
    Return the arm with two rows that are the same row where its first angle is zero.

    Off that angle they are independent: sin^2 of the angle between them grows with its square.
    """
    robot = massless_wrist()

    def rows(q, t):
        return [[1.0, 1.0, 0.0, 0.0], [1.0, np.cos(q[0]), q[0], 0.5 * q[0]]]

    return Case(robot, (kd.constraints.pfaffian(robot, rows, label='gear'),))


# a state of 'dead_centre' where the rows coincide, and do not contradict each other
DEAD_CENTRE = np.array([0.0, 0.3, -0.4, 0.7]), np.array([0.0, 0.0, 0.8, -0.5])


def _tree(base, *kinds, seed=7):
    return lambda: Case(random_tree(np.random.default_rng(seed), base, kinds=kinds))


# compiled in one to a few seconds each; together they hold every joint kind on every base
CASES = {
    'planar_2r': lambda: Case(planar_2r()),
    'sled': _sled,
    'drive': _drive,
    'linkage': _linkage,
    'slides': _slides,
    'massless': lambda: Case(massless_wrist()),
    'dead_centre': _dead_centre,
    'fixed_tree': _tree('fixed', 'revolute', 'prismatic', 'helical'),
    'planar_tree': _tree('planar', 'cylindrical', 'spherical'),
    'floating_tree': _tree('floating', 'planar', 'revolute'),
    'free_tree': _tree('fixed', 'free'),
}


def reference(case, name, q, v, a):
    """Return what the function of that name gives without compilation."""
    values = {'q': q, 'v': v, 'a': a}
    return getattr(kd, name)(case.robot, *[values[x] for x in FUNCTIONS[name]])


def compiled_value(fast, name, q, v, a, **options):
    """Return what the compiled function of that name gives."""
    values = {'q': q, 'v': v, 'a': a}
    return getattr(fast, name)(*[values[x] for x in FUNCTIONS[name]], **options)


def reference_poses(robot, frames, q):
    """Return positions and quaternions of frames, shape (n, 7)."""
    poses = [kd.forward_kinematics(robot, q).pose(name) for name in frames]
    return np.array([[*x.position(), *x.rotation.components] for x in poses])


def error(actual, desired):
    """Return the largest difference in units of the largest entry of `desired`."""
    desired = np.asarray(desired)
    assert np.shape(actual) == desired.shape
    size = np.abs(desired).max(initial=0.0)
    return np.abs(actual - desired).max(initial=0.0) / max(size, 1e-3)


def agree(robot, constraints, fast, q, v, tau, t=0.0, bound=AGREEMENT, **how):
    """Compare compiled accelerations and motion with the package's at one state."""
    expected = kd.forward_dynamics(robot, q, v, tau, constraints, **how, time=t)
    assert error(fast.acceleration(q, v, tau, t), expected.acceleration) < bound
    motion = fast.forward_dynamics(q, v, tau, t, **how)
    assert error(motion.acceleration, expected.acceleration) < bound
    assert error(motion.multipliers, expected.multipliers) < 10 * bound
    assert error(motion.constraint_force, expected.constraint_force) < bound
    assert motion.residual <= 1e-11 * (1.0 + np.abs(motion.acceleration).max()) + expected.residual
    for name in ('velocity_violation', 'position_violation'):
        assert error(getattr(motion, name), getattr(expected, name)) < AGREEMENT
    assert motion.rank == expected.rank
    assert motion.labels == expected.labels
    return expected


def agree_in_steps(robot, constraints, fast, start, tau, n, step=0.01, integrator='rk4'):
    """Compare compiled time steps with the package's from q, v[, t]; return the compiled end."""
    arguments = robot, constraints, step, integrator
    compiled = kd.Simulation(*arguments, engine=fast.engine(integrator))
    by_reference = kd.Simulation(*arguments)
    for simulation in (compiled, by_reference):
        simulation.reset(*start)
        simulation.step(tau, n)
    assert error(compiled.q, by_reference.q) < AGREEMENT
    assert error(compiled.v, by_reference.v) < AGREEMENT
    assert compiled.time == by_reference.time
    return compiled
