# SPDX-License-Identifier: Apache-2.0
"""Triangles of equations leave the residuals of the equations; which parameters lead sums."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.identified import modelled_samples, samples_of
from support.machines import X, Y, Z, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.identification import equations
from kane_dynamics.identification.base_parameters import base_parameters
from kane_dynamics.identification.equations import Equations, Triangles
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE
from kane_dynamics.identification.result import Identification
from kane_dynamics.robot.inertial_parameters import PARAMETERS, inertial_parameters

SPEEDS, COLUMNS = 2, 4


def missed(rows, solution):
    """Return the sum of squared residuals of each speed, of rows with the right side last."""
    return np.sum((rows[..., :-1] @ solution - rows[..., -1]) ** 2, axis=1)


def triangles(rows):
    """Return triangles of rows, shape (speeds, equations, columns)."""
    return Triangles(
        np.array([np.linalg.qr(x, mode='r') for x in rows]), np.full(len(rows), rows.shape[1])
    )


def test_triangles_have_the_residuals_of_their_rows(rng):
    rows, more = rng.normal(size=(2, SPEEDS, 20, COLUMNS + 1))
    solution, one = rng.normal(size=COLUMNS), triangles(rows)
    assert_allclose(one.squares(solution), missed(rows, solution), rtol=1e-12)
    both = one + triangles(more)
    assert_allclose(both.squares(solution), missed(rows, solution) + missed(more, solution))
    assert both.counts.tolist() == [40, 40]
    some = one.take([0, 3])
    assert_allclose(some.squares(solution[:2]), missed(rows[..., [0, 3, 4]], solution[:2]))
    rest = some.weighted(np.ones(SPEEDS))[None]
    assert_allclose(missed(rest, solution[:2]), [some.squares(solution[:2]).sum()], rtol=1e-12)
    weighted = one.weighted(np.array([2.0, 3.0]))[None]
    expected = [4.0, 9.0] @ missed(rows, solution)
    assert_allclose(missed(weighted, solution), [expected], rtol=1e-12)


def two_joints(axis=Z):
    """Return an arm of two joints."""
    load = inertia(2.0, (0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    place = at(0.2, 0.1, 0.3)
    bodies = [
        kd.Body('upper', '', revolute('first', X), place, load),
        kd.Body('lower', 'upper', revolute('second', axis), place, load),
    ]
    return kd.dynamics(kd.Robot('arm', bodies))


def random_samples(rng, count, tau=0.0):
    q, v, a = rng.uniform(-2.0, 2.0, (3, count, 2))
    return samples_of(np.arange(count), q, v, a, tau + rng.normal(size=(count, 2)))


def test_equations_are_those_of_inverse_dynamics_and_friction(rng, monkeypatch):
    monkeypatch.setattr(equations, 'CHUNK', 7)
    dynamics = two_joints()
    kinds = {'second': LINK_SIDE, 'first': MOTOR_SIDE}
    system = Equations(dynamics, ObservedSpeeds(dynamics), kinds)
    friction = [f'{term.kind} {name}' for name, terms in kinds.items() for term in terms]
    inertial = [f'{name}{k}' for k in (1, 2) for name in PARAMETERS]
    assert system.names == inertial + friction
    products = {f'J{pair}{k}' for pair in ('xy', 'xz', 'yz') for k in (1, 2)}
    ranks = dict(zip(system.names, system.preferences, strict=True))
    first = {ranks.pop(name) for name in (*products, *friction)}  # these lead before all others
    assert max(first) < min(ranks.values())
    recordings = [random_samples(rng, 20), random_samples(rng, 12)]
    coefficients = np.array([0.4, 0.3, -0.2, 0.5, 0.6, 0.1, 0.05])
    solution = np.r_[inertial_parameters(dynamics.robot), coefficients]
    expected = np.zeros(2)
    for one in recordings:
        efforts = dynamics.inverse_dynamics(one.q, one.v, one.a)
        sign = np.tanh(one.v / 0.02)
        efforts[:, 1] += [0.4, 0.3, -0.2] @ np.array([one.v[:, 1], sign[:, 1], np.ones(len(one))])
        efforts[:, 0] += [0.5, 0.6, 0.1, 0.05] @ np.array(
            [one.v[:, 0], sign[:, 0], np.ones(len(one)), one.a[:, 0]]
        )
        assert_allclose(system.predicted(one, solution), efforts, rtol=0, atol=1e-11)
        expected += np.sum((efforts - one.tau) ** 2, axis=0)
    found = system.triangles(recordings)
    assert_allclose(found.squares(solution), expected, rtol=1e-10)
    assert found.counts.tolist() == [32, 32]


@pytest.mark.parametrize(
    ('axis', 'difference'),
    [(Z, 'Jxx2 - Jyy2'), (Y, 'Jzz2 - Jxx2'), (X, 'Jyy2 - Jzz2')],
    ids=['z', 'y', 'x'],
)
def test_of_moments_across_the_last_axis_the_difference_is_seen(axis, difference, rng):
    tilted = kd.Pose.from_rotation_and_position((0.8, 0.0, 0.6, 0.0), (0.2, 0.1, 0.3))
    arm = two_joints(axis).robot
    lower = kd.Body('lower', 'upper', revolute('second', axis), tilted, arm.bodies[1].inertia)
    dynamics = kd.dynamics(kd.Robot('arm', [arm.bodies[0], lower]))
    system = Equations(dynamics, ObservedSpeeds(dynamics), {})
    (rows,) = system.chunks([random_samples(rng, 60)])
    found = base_parameters(rows[..., :-1].reshape(-1, 20), system.names, system.preferences)
    assert difference in found.sums
    assert not {'m1', 'm2'} & {found.names[k] for k in found.leading}


def test_errors_are_those_against_filtered_and_raw_efforts():
    """Efforts are those of the model, but for 0.5 in the raw ones."""
    dynamics = kd.dynamics(kd.serial_chain(2))
    phi = inertial_parameters(dynamics.robot)
    samples = modelled_samples(dynamics, phi, duration=2.0)
    samples = replace(samples, raw=samples.tau + 0.5)
    equations = Equations(dynamics, ObservedSpeeds(dynamics), {})
    result = Identification(equations, None, None, {'nominal': phi, 'none': 0.0 * phi}, ())
    errors = result.all_errors(samples)
    assert_allclose(errors['nominal'].filtered, 0.0, atol=1e-10)
    assert_allclose(errors['nominal'].rms, 0.0, atol=1e-12)
    assert_allclose(errors['nominal'].raw, 50.0 / np.ptp(samples.tau, axis=0))
    assert_allclose(errors['none'].rms, np.sqrt(np.mean(samples.tau**2, axis=0)))
    one = result.errors(samples, 'none')
    assert all((a == b).all() for a, b in zip(one, errors['none'], strict=True))
