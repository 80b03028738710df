# SPDX-License-Identifier: Apache-2.0
"""SymPy's KanesMethod on small nonholonomic systems, derived anew at each run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, inertia, revolute

import kane_dynamics as kd

sm = pytest.importorskip('sympy', reason='the extra "oracle" is not installed')
me = pytest.importorskip('sympy.physics.mechanics')

pytestmark = pytest.mark.oracle
AGREEMENT = 1e-12  # both solve a 4 x 4 system with entries of order 1

M1, I1, A1 = 1.3, 0.4, 0.35  # sled: mass, central inertia, centre of mass ahead of the edge
M2, I2, B2, L2 = 0.7, 0.15, 0.25, 0.5  # link or trailer: ..., hinge position on the sled, arm


def sled_and_link(blade_on_link):
    """
    Return a function (q, u, tau) -> accelerations from KanesMethod.

    A sled with a knife edge at its frame carries a link on a hinge. The link's centre of mass is
    L2 ahead of the hinge; with `blade_on_link` it has a knife edge there as well (a trailer).
    """
    x, y, yaw, hinge = q = me.dynamicsymbols('x y yaw hinge')
    speeds = me.dynamicsymbols('u1:5')
    loads = sm.symbols('f_x f_y n_1 n_2')
    world, origin = me.ReferenceFrame('N'), me.Point('O')
    origin.set_vel(world, 0)
    sled, link = me.ReferenceFrame('A'), me.ReferenceFrame('B')
    sled.orient_axis(world, yaw, world.z)
    link.orient_axis(sled, hinge, sled.z)
    sled.set_ang_vel(world, speeds[2] * world.z)
    link.set_ang_vel(sled, speeds[3] * sled.z)
    edge = origin.locatenew('P', x * world.x + y * world.y)
    edge.set_vel(world, speeds[0] * world.x + speeds[1] * world.y)
    com, joint = edge.locatenew('C', A1 * sled.x), edge.locatenew('H', -B2 * sled.x)
    tip = joint.locatenew('T', L2 * link.x)
    com.v2pt_theory(edge, world, sled)
    joint.v2pt_theory(edge, world, sled)
    tip.v2pt_theory(joint, world, link)
    bodies = [
        me.RigidBody('sled', com, sled, M1, (me.inertia(sled, 0, 0, I1), com)),
        me.RigidBody('link', tip, link, M2, (me.inertia(link, 0, 0, I2), tip)),
    ]
    forces = [
        (edge, loads[0] * world.x + loads[1] * world.y),
        (sled, (loads[2] - loads[3]) * world.z),
        (link, loads[3] * world.z),
    ]
    rows = [edge.vel(world).dot(sled.y)]
    if blade_on_link:
        rows.append(tip.vel(world).dot(link.y))
    dependent = 1 + blade_on_link
    method = me.KanesMethod(
        world,
        q,
        [speeds[2], speeds[3], speeds[0], speeds[1]][: 4 - dependent],
        kd_eqs=[a.diff() - b for a, b in zip(q, speeds, strict=True)],
        u_dependent=[speeds[2], speeds[3], speeds[0], speeds[1]][4 - dependent :],
        velocity_constraints=rows,
    )
    method.kanes_equations(bodies, forces)
    inputs = (*q, *speeds, *loads)
    mass, forcing = (sm.lambdify(inputs, part) for part in (method.mass_matrix, method.forcing))
    order = [2, 3, 0, 1]

    def accelerations(q, u, tau):
        arguments = (*q, *u, *tau)
        solved = np.linalg.solve(mass(*arguments), np.ravel(forcing(*arguments)))
        result = np.empty(4)
        result[order] = solved
        return result

    return accelerations


def our_sled():
    """Return the same machine and its constraints, one and two blades."""
    bodies = [
        kd.Body(
            'base', '', kd.Joint('base', kd.Planar()), inertia=inertia(M1, (A1, 0, 0), (0, 0, I1))
        ),
        kd.Body(
            'link', 'base', revolute('hinge'), at(-B2, 0, 0), inertia(M2, (L2, 0, 0), (0, 0, I2))
        ),
    ]
    robot = kd.Robot('sled', bodies, (0, 0, 0))

    def row(q, t):
        s, c = np.sin(q[2] + q[3]), np.cos(q[2] + q[3])
        return [-s, c, L2 - B2 * np.cos(q[3]), L2]

    edge = kd.constraints.no_side_slip(robot)
    return robot, {False: (edge,), True: (edge, kd.constraints.pfaffian(robot, row, label='tail'))}


@pytest.fixture(scope='module', params=[False, True], ids=['arm on a sled', 'trailer'])
def system(request):
    """Return our robot, its constraints, and SymPy's accelerations."""
    robot, constraints = our_sled()
    return robot, constraints[request.param], sled_and_link(request.param)


@pytest.mark.parametrize('seed', range(5))
def test_accelerations(system, seed):
    robot, constraints, oracle = system
    rng = np.random.default_rng(seed)
    q, v, tau = rng.uniform(-2, 2, (3, 4))
    _, v = kd.simulation.project(robot, constraints, q, v, 0.0)
    motion = kd.forward_dynamics(robot, q, v, tau, constraints)
    expected = oracle(q, v, tau)
    assert_allclose(
        motion.acceleration, expected, rtol=AGREEMENT, atol=AGREEMENT * np.abs(expected).max()
    )
