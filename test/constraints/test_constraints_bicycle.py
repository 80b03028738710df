# SPDX-License-Identifier: Apache-2.0
"""
Whipple's bicycle from two rolling wheels, against the published benchmark.

Meijaard, Papadopoulos, Ruina, Schwab, Linearized dynamics equations for the balance and steer of a
bicycle, Proc. R. Soc. A 463 (2007). Its axes: x forward, y to the right, z down.
"""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from studies.suites.bicycle import NAMES, G, bicycle

EXACT = 1e-9  # relative to the largest entry; the derivatives are exact, measured 1e-14
LEAN, STEER, REAR = (NAMES.index(name) for name in ('lean', 'steer', 'rear'))

M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
C1 = [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]
K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
K2 = [[0, 76.59734589573222], [0, 2.65431523794604]]
# of a pair the one with positive imaginary part
EIGENVALUES = {
    0: (-5.53094371765, -3.13164324791, 3.13164324791, 5.53094371765),
    1: (-7.11008014637, -3.13423125067, 3.5269617099 + 0.807740275199j),
    2: (-8.67387984832, -3.07158645642, 2.68234517513 + 1.68066296591j),
    3: (-10.3510146725, -2.63366137254, 1.70675605664 + 2.31582447384j),
    4: (-12.1586142658, -1.42944427361, 0.413253315211 + 3.07910818603j),
    5: (-14.0783896928, -0.775341882196 + 4.46486771379j, -0.322866429004),
    6: (-16.085371231, -1.52644486584 + 5.87673060599j, -0.00406690076971),
    7: (-18.1578846613, -2.13875644258 + 7.1952591333j, 0.102681705748),
    8: (-20.2794089439, -2.69348683581 + 8.46037971397j, 0.143278797657),
    9: (-22.4378855904, -3.21675402252 + 9.69377351532j, 0.157901840309),
    10: (-24.6245963502, -3.72016840437 + 10.9068113948j, 0.161053386532),
}


@cache
def derivatives():
    """
    Return the derivatives of (lean'', steer'') by state and effort as functions of the speed.

    Those of the traced rows and of the traced motion are exact. To first order height and pitch
    do not change with lean and steer.
    """
    robot, rows = bicycle()
    motion = kd.casadi_function(robot, 'forward_dynamics', rows)
    row_graph = kd.casadi_function(robot, 'constraint_rows', rows)
    state, f, speed = ca.SX.sym('state', 4), ca.SX.sym('f', 2), ca.SX.sym('speed')
    q, v, tau = ca.SX.zeros(9), ca.SX.zeros(9), ca.SX.zeros(9)
    q[LEAN], q[STEER], tau[LEAN], tau[STEER] = state[0], state[1], f[0], f[1]
    A = row_graph(q, v, 0.0)[0]
    free = [LEAN, STEER, REAR]
    bound = [k for k in range(9) if k not in free]
    given = ca.vertcat(state[2], state[3], -speed / 0.3)
    v[free], v[bound] = given, -ca.solve(A[:, bound], A[:, free] @ given)
    a = motion(q, v, tau)[[LEAN, STEER]]
    both = [
        ca.substitute(ca.jacobian(a, x), ca.vertcat(state, f), np.zeros(6)) for x in (state, f)
    ]
    return ca.Function('derivatives', [speed], both)


def linearised(speed):
    """Return M, C and K of M q'' + C q' + K q = f, q = (lean, steer), at a speed [m/s]."""
    by_state, by_effort = (np.array(x) for x in derivatives()(float(speed)))
    mass = np.linalg.inv(by_effort)
    return mass, -mass @ by_state[:, 2:], -mass @ by_state[:, :2]


def close(found, expected):
    """Assert that matrices agree relative to the largest entry."""
    assert_allclose(found, expected, rtol=0, atol=EXACT * np.abs(expected).max())


def test_published_matrices():
    mass, damping, stiffness = linearised(0)
    close(mass, M)
    close(stiffness / G, K0)
    assert_allclose(damping, 0.0, atol=1e-12)
    for speed in (3, 10):
        mass, damping, stiffness = linearised(speed)
        close(mass, M)
        close(damping / speed, C1)
        close((stiffness - G * np.array(K0)) / speed**2, K2)


def modes(speed):
    """Return the eigenvalues at a speed, the one that grows fastest first."""
    mass, damping, stiffness = linearised(speed)
    rates = np.linalg.solve(mass, np.hstack([-stiffness, -damping]))
    found = np.linalg.eigvals(np.vstack([np.eye(4)[2:], rates]))
    return found[np.argsort(-found.real)]


@pytest.mark.parametrize('speed', EIGENVALUES)
def test_published_eigenvalues(speed):
    found = modes(speed)
    published = np.array(EIGENVALUES[speed])
    expected = np.concatenate([published, published[published.imag != 0].conj()])
    nearest = [np.abs(found - x).min() for x in expected]
    assert len(expected) == len(found)
    assert max(nearest) < EXACT * np.abs(expected).max()


@pytest.mark.parametrize(
    ('speed', 'oscillates'),
    [(4.29238253634111, True), (6.02426201538838, False)],
    ids=['weave', 'capsize'],
)
def test_self_stable_between_the_published_speeds(speed, oscillates):
    growth = [modes(v)[0].real for v in (0.99 * speed, speed, 1.01 * speed)]
    assert growth[1] == pytest.approx(0.0, abs=1e-9)
    assert (growth[0] > 0.0) == oscillates == (growth[2] < 0.0)
    assert (abs(modes(speed)[0].imag) > 1.0) == oscillates


def test_upright_height_and_pitch_are_stationary():
    # what the linearisation takes for granted
    robot, rows = bicycle()
    A = kd.constraints.ConstraintSet(robot, rows).rows(np.zeros(9), np.zeros(9), 0.0)
    vertical = [k for k, label in enumerate(A.labels) if 'vertical' in label]
    assert_allclose(A.matrix[np.ix_(vertical, [LEAN, STEER])], 0.0, atol=1e-16)
    assert_allclose([A.positions[k] for k in vertical], 0.0, atol=1e-16)


def test_a_leaning_bicycle_in_a_turn():
    # nonlinear: computed once by an independent nine-coordinate model (one way only)
    robot, rows = bicycle()
    place = kd.constraints.holonomic(robot, lambda q, t: [q[LEAN] - 0.2, q[STEER] + 0.3])
    q, _ = kd.simulation.project(robot, (*rows, place), np.zeros(9), np.zeros(9), 0.0)
    v = np.zeros(9)
    v[[LEAN, STEER, REAR]] = 0.4, -0.5, -4 / 0.3
    v = kd.consistent_velocity(robot, q, v, rows, known=('lean', 'steer', 'rear'))
    a = kd.forward_dynamics(robot, q, v, np.zeros(9), rows).acceleration
    assert_allclose(a[[LEAN, STEER]], (7.193993871, 16.18644196), rtol=1e-9)
