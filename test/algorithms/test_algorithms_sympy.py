# SPDX-License-Identifier: Apache-2.0
"""
Every method of forward dynamics against SymPy's KanesMethod on nonholonomic systems.

The equations are derived anew at each run, from points and frames of SymPy; each system states
its constraint rows twice, here as velocities of SymPy's points and there as constraints of the
package. Speeds are the derivatives of the coordinates, in the order of the robot's v.
"""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import (
    CART,
    DRIVE,
    SNAKEBOARD,
    differential_drive,
    rolling_disc,
    shopping_cart,
    sled_with_arm,
    snakeboard,
)

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.formulations import METHODS

sm = pytest.importorskip('sympy', reason='the extra "oracle" is not installed')
me = pytest.importorskip('sympy.physics.mechanics')

pytestmark = pytest.mark.oracle
# relative to the largest acceleration: roundoff times the condition of M and of the rows, < 1e3
AGREEMENT = 1e-12
GRAVITY = 9.81
DISC = {'r': 0.26, 'm': 3.43}


class Scene:
    """Coordinates, speeds, efforts, bodies and loads of a system that SymPy is told of."""

    def __init__(self, size):
        self.q, self.u = me.dynamicsymbols(f'q:{size}'), me.dynamicsymbols(f'u:{size}')
        self.tau = sm.symbols(f'tau:{size}')
        self.world, self.origin = me.ReferenceFrame('N'), me.Point('O')
        self.origin.set_vel(self.world, 0)
        self.bodies, self.loads = [], []

    def turned(self, name, parent, k, axis):
        """Return a frame that q_k turns about an axis of both; tau_k drives it from its parent."""
        frame = me.ReferenceFrame(name)
        frame.orient_axis(parent, axis, self.q[k])
        frame.set_ang_vel(parent, self.u[k] * axis)
        self.loads.append((frame, self.tau[k] * axis))
        if parent is not self.world:
            self.loads.append((parent, -self.tau[k] * axis))
        return frame

    def slid(self, name, axes):
        """Return the point that q_0, q_1, ... slide along axes of the world."""
        point = self.origin.locatenew(name, _sum(self.q, axes))
        point.set_vel(self.world, _sum(self.u, axes))
        self.loads.append((point, _sum(self.tau, axes)))
        return point

    def point(self, name, base, offset, frame):
        """Return a point fixed in a frame."""
        point = base.locatenew(name, offset)
        point.v2pt_theory(base, self.world, frame)
        return point

    def body(self, name, com, frame, mass, tensor):
        """Add a rigid body with a diagonal central tensor, and its weight along -z."""
        central = me.inertia(frame, *tensor)
        self.bodies.append(me.RigidBody(name, com, frame, mass, (central, com)))
        self.loads.append((com, -mass * GRAVITY * self.world.z))

    def accelerations(self, rows, dependent):
        """Return a function (q, u, tau) -> u' from KanesMethod under velocities `rows` = 0."""
        independent = [k for k in range(len(self.u)) if k not in dependent]
        method = me.KanesMethod(
            self.world,
            self.q,
            [self.u[k] for k in independent],
            kd_eqs=[a.diff() - b for a, b in zip(self.q, self.u, strict=True)],
            u_dependent=[self.u[k] for k in dependent],
            velocity_constraints=rows,
        )
        method.kanes_equations(self.bodies, self.loads)
        equations = sm.lambdify(
            (*self.q, *self.u, *self.tau), [method.mass_matrix, method.forcing], cse=True
        )
        order = [*independent, *dependent]

        def solve(q, u, tau):
            mass, forcing = equations(*q, *u, *tau)
            result = np.empty(len(order))
            result[order] = np.linalg.solve(mass, np.ravel(forcing))
            return result

        return solve


def _sum(factors, axes):
    return sum((f * axis for f, axis in zip(factors, axes, strict=False)), me.Vector(0))


def disc():
    """A thin disc rolls on a plane: its material point at the contact has no velocity (3 rows)."""
    r, m = DISC['r'], DISC['m']
    s = Scene(6)
    n = s.world
    centre = s.slid('C', (n.x, n.y, n.z))
    yawed = s.turned('Y', n, 3, n.z)
    leaned = s.turned('L', yawed, 4, yawed.x)
    wheel = s.turned('W', leaned, 5, leaned.y)
    s.body('disc', centre, wheel, m, (m * r * r / 4, m * r * r / 2, m * r * r / 4))
    contact = s.point('K', centre, -r * leaned.z, wheel)
    rows = [contact.vel(n).dot(axis) for axis in (n.x, n.y, n.z)]
    robot = rolling_disc(r, m)
    return robot, (kd.constraints.rolling_wheel(robot, 'spin', r),), s, rows, (0, 1, 2)


def drive():
    """
    A base on two wheels with spin inertia, its centre of mass ahead of the axle.

    Rows: the axle's middle has no velocity along b_y, the lowest point of each wheel none along
    b_x.
    """
    d = DRIVE
    s = Scene(5)
    n = s.world
    axle = s.slid('A', (n.x, n.y))
    base = s.turned('B', n, 2, n.z)
    s.body('base', s.point('C', axle, d['d'] * base.x, base), base, d['m_c'], (0, 0, d['I_c']))
    rows = [axle.vel(n).dot(base.y)]
    for k, side in ((3, 1), (4, -1)):
        wheel = s.turned(f'W{k}', base, k, base.y)
        hub = s.point(f'H{k}', axle, side * d['L'] * base.y, base)
        s.body(f'wheel_{k}', hub, wheel, d['m_w'], (d['I_m'], d['I_w'], d['I_m']))
        rows.append(s.point(f'K{k}', hub, -d['r'] * base.z, wheel).vel(n).dot(base.x))
    robot = differential_drive()
    rolling = kd.constraints.differential_drive(robot, 'left', 'right', d['r'])
    return robot, (rolling,), s, rows, (1, 3, 4)


def unicycle():
    """A body on a knife edge with an arm in gravity; row: the edge has no velocity along b_y."""
    s = Scene(5)
    n = s.world
    edge = s.slid('E', (n.x, n.y))
    base = s.turned('B', n, 2, n.z)
    upper = s.turned('U', base, 3, base.z)
    fore = s.turned('F', upper, 4, upper.y)
    shoulder = s.point('S', edge, 0.1 * base.x + 0.03 * base.y + 0.3 * base.z, base)
    elbow = s.point('J', shoulder, 0.3 * upper.x + 0.1 * upper.z, upper)
    parts = (
        ('base', edge, base, 5.0, (0.2, 0.05, 0.1), (0.1, 0.2, 0.4)),
        ('upper', shoulder, upper, 1.1, (0.15, 0.02, 0.05), (0.01, 0.02, 0.02)),
        ('fore', elbow, fore, 0.8, (0.2, 0.0, -0.03), (0.005, 0.015, 0.012)),
    )
    for name, joint, frame, mass, com, tensor in parts:
        offset = _sum(com, (frame.x, frame.y, frame.z))
        s.body(name, s.point(f'{name}_com', joint, offset, frame), frame, mass, tensor)
    robot = sled_with_arm()
    return robot, (kd.constraints.no_side_slip(robot),), s, [edge.vel(n).dot(base.y)], (1,)


def cart():
    """
    The shopping cart with a free caster, a particle behind its pivot.

    Rows: the rear axle has no velocity along b_2, the caster's particle none along c_2.
    """
    c = CART
    s = Scene(4)
    n = s.world
    axle = s.slid('P1', (n.x, n.y))
    base = s.turned('B', n, 2, n.z)
    caster = s.turned('C', base, 3, base.z)
    com = s.point('Bo', axle, c['L1'] * base.x, base)
    s.body('base', com, base, c['m_B'], (0, 0, c['I_B']))
    pivot = s.point('P2', axle, c['L2'] * base.x, base)
    contact = s.point('P3', pivot, -c['L3'] * caster.x, caster)
    s.bodies.append(me.Particle('caster', contact, c['m_C']))
    rows = [axle.vel(n).dot(base.y), contact.vel(n).dot(caster.y)]

    def row(q, t):
        s, co = np.sin(q[2] + q[3]), np.cos(q[2] + q[3])
        return [-s, co, c['L2'] * np.cos(q[3]) - c['L3'], -c['L3']]

    robot = shopping_cart()
    free = (kd.constraints.no_side_slip(robot), kd.constraints.pfaffian(robot, row))
    return robot, free, s, rows, (1, 3)


def board():
    """
    A snakeboard: board, rotor on its middle, and two axles that steer independently.

    Rows: the middle of each axle has no velocity along the axle.
    """
    p = SNAKEBOARD
    s = Scene(6)
    n = s.world
    middle = s.slid('M', (n.x, n.y))
    deck = s.turned('B', n, 2, n.z)
    rotor = s.turned('R', deck, 3, deck.z)
    s.body('deck', middle, deck, p['m'], (0, 0, p['J']))
    s.body('rotor', middle, rotor, p['m_r'], (0, 0, p['J_r']))
    rows = []
    for k, side in ((4, 1), (5, -1)):
        axle = s.turned(f'A{k}', deck, k, deck.z)
        hub = s.point(f'H{k}', middle, side * p['l'] * deck.x, deck)
        s.body(f'axle_{k}', hub, axle, p['m_w'], (0, 0, p['J_w']))
        rows.append(hub.vel(n).dot(axle.y))
    robot = snakeboard()

    def row(side, k):
        def lateral(q, t):
            yaw = q[2] + q[k]
            return [-np.sin(yaw), np.cos(yaw), side * p['l'] * np.cos(q[k]), 0.0, 0.0, 0.0]

        return kd.constraints.pfaffian(robot, lateral)

    return robot, (row(1, 4), row(-1, 5)), s, rows, (1, 2)


SYSTEMS = {'disc': disc, 'drive': drive, 'unicycle': unicycle, 'cart': cart, 'snakeboard': board}


@functools.cache
def derived(name):
    """Return robot, constraints and SymPy's accelerations."""
    robot, constraints, scene, rows, dependent = SYSTEMS[name]()
    return robot, constraints, scene.accelerations(rows, dependent)


def state(robot, constraints, seed):
    """Return q, v, tau that satisfy the rows."""
    rng = np.random.default_rng(seed)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, robot.nv))
    if robot.name == 'disc':
        q[2] = DISC['r'] * np.cos(q[4])  # it stands on the ground
    q, v = kd.simulation.project(robot, constraints, q, v, 0.0)
    return q, v, tau


@pytest.mark.claim(45)
@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('name', SYSTEMS)
def test_accelerations_of_sympy(name, method):
    robot, constraints, oracle = derived(name)
    for seed in range(4):
        q, v, tau = state(robot, constraints, seed)
        motion = kd.forward_dynamics(robot, q, v, tau, constraints, method)
        expected = oracle(q, v, tau)
        assert_allclose(
            motion.acceleration, expected, rtol=0, atol=AGREEMENT * np.abs(expected).max()
        )


@pytest.mark.parametrize('name', SYSTEMS)
def test_the_rows_turn(name):
    """A vdot = -Adot v is not zero at these states: a lost Adot v would have been seen."""
    robot, constraints, _ = derived(name)
    q, v, _ = state(robot, constraints, 0)
    rows = ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.0)
    assert np.abs(rows.acceleration).max() > 1e-2
    assert_allclose(rows.matrix @ v, 0.0, atol=1e-13)
