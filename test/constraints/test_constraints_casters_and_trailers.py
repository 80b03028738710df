# SPDX-License-Identifier: Apache-2.0
"""Casters with trail that follow, flip and shimmy; tractors with trailers: closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import derivative
from support.machines import X, Y, Z, at, inertia, prismatic, revolute

import kane_dynamics as kd

C = kd.constraints
PRINTED = 6e-10  # half a unit of ten digits, relative
LINEAR = 1e-9  # relative: differences of order 8 over 8e-3 rad, of rows of some hundreds
# Runge-Kutta of fourth order, rates of V/d = 16 1/s and steps of 2 ms: (16 h)^5/120 = 3e-10 a step
FOLLOWED = 1e-7


def driven(robot, speed, joint='x'):
    """Return the row of a slide that moves at a given speed."""
    k = robot.coordinate_index(joint)
    return C.holonomic(robot, lambda q, t: q[k] - speed * t, 'driven')


def caster(trail):
    """Return a caster whose pivot is on a slide along x, with its wheel."""
    fork = inertia(0.4, (-0.01, 0, 0), (1e-3, 1e-3, 1e-3))
    wheel = inertia(0.3, (0, 0, 0), (1e-4, 2e-4, 1e-4))
    bodies = [
        kd.Body('pivot', '', prismatic('x', X)),
        kd.Body('fork', 'pivot', revolute('swivel', Z), at(0, 0, 0.04), fork),
        kd.Body('wheel', 'fork', revolute('roll', Y), at(-trail, 0, 0), wheel),
    ]
    robot = kd.Robot('caster', bodies)
    return robot, C.rolling_wheel(robot, 'roll', 0.04)


@pytest.mark.parametrize('speed', [0.8, -0.8])
def test_a_caster_follows_and_flips_when_pushed_back(speed):
    # d delta' = -V sin delta; tan(delta/2) falls, or grows, as exp(-V t/d), time constant d/V
    robot, wheel = caster(0.05)

    def rates(delta):
        v = np.array([speed, 0.0, 0.0])
        return kd.consistent_velocity(robot, [0.0, delta, 0.0], v, (wheel,), known=('x',))

    for delta in (0.0, 0.3, 1.2, -2.0, 3.0):
        expected = (speed, -speed / 0.05 * np.sin(delta), speed / 0.04 * np.cos(delta))
        assert_allclose(rates(delta), expected, rtol=0, atol=1e-13)
    assert derivative(lambda s: rates(s)[1]) == pytest.approx(-speed / 0.05, rel=LINEAR)
    start = 1.2 if speed > 0 else 0.01
    rows = (wheel, driven(robot, speed))
    path = kd.simulate(
        robot,
        [0.0, start, 0.0],
        rates(start),
        0.1 if speed > 0 else 0.6,
        constraints=rows,
        step=2e-3 if speed > 0 else 4e-3,
    )
    end = 2 * np.arctan(np.tan(start / 2) * np.exp(-speed * path.time[-1] / 0.05))
    assert path.q[-1, 1] == pytest.approx(end, abs=FOLLOWED if speed > 0 else 2e-5)
    if speed > 0:
        assert end == pytest.approx(0.274512712, rel=PRINTED)
    else:
        assert end > 3.0  # it has turned round


SHIMMY = {'m': 1.4, 'h': 0.02, 'd': 0.05, 'k': 4e4}


def shimmying(speed, tensor, damping):
    """Return the state matrix of (y, delta, delta') of a caster without wheel mass on a spring."""
    n = SHIMMY
    fork = kd.Inertia(n['m'], (-n['h'], 0, 0), np.diag((1e-3, 1e-3, tensor)))
    bodies = [
        kd.Body('moved', '', prismatic('x', X)),
        kd.Body('sprung', 'moved', prismatic('y', Y)),
        kd.Body('fork', 'sprung', revolute('swivel', Z, damping=damping), inertia=fork),
    ]
    robot = kd.Robot('shimmy', bodies)
    rows = (driven(robot, speed), C.knife_edge(robot, 'fork', (-n['d'], 0, 0)))

    def rates(y, delta, delta_rate):
        q, v = [0.0, y, delta], np.array([speed, 0.0, delta_rate])
        v = kd.consistent_velocity(robot, q, v, rows, known=('x', 'swivel'))
        a = kd.forward_dynamics(robot, q, v, [0.0, -n['k'] * y, 0.0], rows).acceleration
        return np.array([v[1], delta_rate, a[2]])

    return np.column_stack([derivative(lambda s, e=e: rates(*(s * e))) for e in np.eye(3)])


@pytest.mark.parametrize(
    ('speed', 'tensor', 'damping', 'roots'),
    [
        (0.2777777778, 0.0012, 0.002, (-5.555555556, 201.6194596j)),
        (0.8 * 0.2777777778, 0.0012, 0.002, (-4.444523421, -0.08126132462 + 201.6176519j)),
        (1.5 * 0.2777777778, 0.0012, 0.002, (-8.332640188, 0.20290546 + 201.6277432j)),
        (2.0, 0.0005, 0.0, (-40.21384639, -3.756713167 + 237.701336j)),
        (2.0, 0.0012, 0.0, (-39.78065873, 2.817158635 + 202.1549084j)),
    ],
    ids=['critical', 'below', 'above', 'small fork', 'large fork'],
)
def test_shimmy_of_a_caster_on_a_spring(speed, tensor, damping, roots):
    # [I + m(d-h)^2] s^3 + [m(d-h)V + c] s^2 + k d^2 s + k d V
    m, h, d, k = SHIMMY.values()
    known = [tensor + m * (d - h) ** 2, m * (d - h) * speed + damping, k * d * d, k * d * speed]
    matrix = shimmying(speed, tensor, damping)
    found = np.poly(matrix)
    assert_allclose(found, np.array(known) / known[0], rtol=LINEAR)
    eigenvalues = np.linalg.eigvals(matrix)
    for root in roots:
        assert np.abs(eigenvalues - root).min() < 2e-9 * abs(roots[1])
    stable = damping * d > (tensor - m * h * (d - h)) * speed * (1 + 1e-6)
    if abs(speed - 0.2777777778) > 1e-6:
        assert (eigenvalues.real.max() < 0.0) == stable


LENGTHS, HEADINGS = (0.6, 0.5, 0.45), (0.3, 0.1, -0.2, 0.15)


def trailers(hitches, lengths=LENGTHS):
    """Return a tractor with trailers, hitches M_i behind its axles; a knife edge for each axle."""
    base = kd.Joint('base', kd.Planar())
    bodies = [kd.Body('axle_0', '', base, inertia=inertia(9.0, (0.1, 0, 0), (0, 0, 0.4)))]
    for i, (hitch, length) in enumerate(zip(hitches, lengths, strict=True)):
        load = inertia(4.0, (-length, 0, 0), (0, 0, 0.2))
        bodies.append(
            kd.Body(
                f'axle_{i + 1}',
                f'axle_{i}',
                revolute(f'hitch_{i}', Z),
                at(-hitch if i == 0 else -lengths[i - 1] - hitch, 0, 0),
                load,
            )
        )
    robot = kd.Robot('train', bodies)
    places = (0.0, *(-length for length in lengths))
    return robot, tuple(C.knife_edge(robot, f'axle_{i}', (x, 0, 0)) for i, x in enumerate(places))


def motion_of(robot, rows, headings, v, w):
    """Return yaw rates and speeds along their headings of all axles."""
    th = np.array(headings)
    q = np.r_[0.4, -0.2, th[0], np.diff(th)]
    known = np.zeros(robot.nv)
    known[:3] = v * np.cos(th[0]), v * np.sin(th[0]), w
    speeds = kd.consistent_velocity(robot, q, known, rows, known=('base_x', 'base_y', 'base_yaw'))
    kin = kd.forward_kinematics(robot, q, speeds)
    along = [kin.twist(f'axle_{i}')[3] for i in range(len(headings))]
    return np.cumsum(speeds[2:]), along


@pytest.mark.parametrize(
    ('hitches', 'rates', 'speeds'),
    [
        (
            (0, 0, 0),
            (0.25, 0.2317808859, 0.4054812687, -0.4994156868),
            (0.7, 0.6860466045, 0.6554053545, 0.6156699059),
        ),
        (
            (0.12, 0.08, 0.1),
            (0.25, 0.182777557, 0.3810656656, -0.5865943615),
            (0.7, 0.6920066844, 0.6654203933, 0.6120111019),
        ),
    ],
    ids=['on axle', 'off axle'],
)
def test_motion_of_trailers(hitches, rates, speeds):
    robot, rows = trailers(hitches)
    found, along = motion_of(robot, rows, HEADINGS, 0.7, 0.25)
    assert_allclose(found, rates, rtol=0, atol=PRINTED)
    assert_allclose(along, speeds, rtol=0, atol=PRINTED)
    q = np.r_[0.4, -0.2, HEADINGS[0], np.diff(HEADINGS)]
    A = C.ConstraintSet(robot, rows).rows(q, np.zeros(6), 0.0).matrix
    assert np.linalg.matrix_rank(A) == 4


@pytest.mark.parametrize(
    ('hitches', 'radii', 'differences'),
    [
        (
            (0, 0, 0),
            (2, 1.907878403, 1.841195264, 1.785357107),
            (0.304692654, 0.2651678023, 0.2469075326),
        ),
        (
            (0.12, 0.08, 0.1),
            (2, 1.911648503, 1.846835131, 1.793962095),
            (0.3640563092, 0.3062195923, 0.2998642922),
        ),
    ],
    ids=['on axle', 'off axle'],
)
def test_trailers_on_a_steady_circle(hitches, radii, differences):
    robot, rows = trailers(hitches)
    headings = 0.3 - np.r_[0.0, np.cumsum(differences)]
    w = 0.35
    rates, along = motion_of(robot, rows, headings, 2.0 * w, w)
    assert_allclose(rates, w, rtol=0, atol=1e-8)  # angles are printed to ten digits
    assert_allclose(along, w * np.array(radii), rtol=0, atol=PRINTED)


def test_a_trailer_straightens_and_jackknifes():
    # tan(D/2) = tan(D0/2) exp(-v t/L); backwards it grows at the same rate
    robot, (tractor, trailer) = trailers((0.0,), (0.6,))
    for v, angle in ((0.7, 1.0), (-0.7, 0.4)):
        rates, _ = motion_of(robot, (tractor, trailer), (0.0, -angle), v, 0.0)
        assert rates[1] == pytest.approx(v / 0.6 * np.sin(angle), rel=1e-14)
    rows = (trailer, C.holonomic(robot, lambda q, t: [q[0] - 0.7 * t, q[1], q[2]], 'straight'))
    q = np.array([0.0, 0.0, 0.0, -1.0])
    v = np.array([0.7, 0.0, 0.0, 0.7 / 0.6 * np.sin(1.0)])
    path = kd.simulate(robot, q, v, 1.5, constraints=rows, step=0.03)
    # fourth order: (1.2 h)^5/120 = 5e-10 a step
    assert -path.q[-1, 3] == pytest.approx(0.1892989632, abs=1e-7)
