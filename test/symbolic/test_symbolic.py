# SPDX-License-Identifier: Apache-2.0
"""Equations of motion in SymPy: textbook forms, laws, and the package's own numbers."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import derivative
from support.machines import SLEIGH, Z, inertia, planar_2r, revolute
from symbolic_cases import CART_POLE, CASES, equations_of

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import (
    ConstraintError,
    InvalidInputError,
    MissingPackageError,
    NameNotFoundError,
)
from kane_dynamics.symbolic import equations as symbolic
from kane_dynamics.symbolic.equations import QUANTITIES, equations_of_motion

sm = pytest.importorskip('sympy', reason='the extra "symbolic" is not installed')

from kane_dynamics.symbolic import laurent as symbolic_ring  # noqa: E402  (need SymPy)
from kane_dynamics.symbolic import short_forms as symbolic_forms  # noqa: E402  (needs SymPy)

PLAIN = ('planar_2r', 'cart_pole', 'sleigh', 'driven_arm', 'wrist', 'linkage')
AGREEMENT = 1e-12  # of the largest entry: coefficients have 14 digits, sums some dozens of terms
EXACT = 1e-12  # a coefficient that is a difference of two with 14 digits each


@pytest.fixture
def arm():
    return equations_of('planar_2r')


def states(robot, rng, count=3):
    for _ in range(count):
        q = kd.integrate(robot, robot.neutral(), rng.uniform(-1.5, 1.5, robot.nv), 1.0)
        yield q, rng.uniform(-2.0, 2.0, robot.nv), rng.uniform(0.0, 1.0)


def reference(robot, constraints, q, v, t):
    """Return what the functions of the package give for each quantity."""
    gravity = kd.gravity_force(robot, q)
    rows = ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), t)
    return {
        'mass_matrix': kd.mass_matrix(robot, q),
        'coriolis_matrix': kd.coriolis_matrix(robot, q, v),
        'velocity_force': kd.bias_force(robot, q, v) - gravity,
        'gravity_force': gravity,
        'friction': kd.friction_force(robot, v),
        'coordinate_rate': derivative(lambda s: kd.integrate(robot, q, v, s)),
        'constraint_matrix': rows.matrix,
        'constraint_velocity': rows.velocity,
        'constraint_acceleration': rows.acceleration,
    }


# central differences: of q (+) v s here, of the rows of a Pfaffian constraint in the package
DIFFERENCED = {'coordinate_rate': 1e-9, 'constraint_acceleration': 1e-9}


def check_numbers(case, simplify, rng):
    robot, constraints = CASES[case]()
    equations = equations_of(case, simplify)
    functions = {quantity: equations.lambdify(quantity) for quantity in QUANTITIES}
    assert len(equations.labels) == len(equations.multipliers)
    for state in states(robot, rng):
        expected = reference(robot, constraints, *state)
        for quantity, function in functions.items():
            known, got = np.array(expected[quantity], dtype=float), function(*state)
            assert got.shape == known.shape, quantity
            tolerance = DIFFERENCED.get(quantity, AGREEMENT)
            scale = max(1.0, np.abs(known).max(initial=0.0))
            assert_allclose(got, known, rtol=0, atol=tolerance * scale, err_msg=quantity)


@pytest.mark.parametrize('case', CASES)
def test_simplified_equations_give_the_same_numbers(case, rng):
    check_numbers(case, True, rng)


@pytest.mark.parametrize('case', PLAIN)
def test_equations_as_traced_give_the_same_numbers(case, rng):
    check_numbers(case, False, rng)


def vanishes(expression):
    """Return whether all coefficients of a trigonometric polynomial are roundoff."""
    expanded = sm.expand(sm.expand_trig(sm.expand(expression)))
    sines = [a for a in expanded.atoms(sm.sin)]
    for sine in sines:  # sin^2 = 1 - cos^2
        square = 1 - sm.cos(sine.args[0]) ** 2
        expanded = sm.expand(sm.rem(expanded, sine**2 - square, sine))
    coefficients = [abs(c) for c in expanded.as_coefficients_dict().values()]
    return max(coefficients, default=0) < EXACT


def test_textbook_form_of_the_planar_arm(arm):
    # Silva et al. and any textbook; slender rods of section 2.7
    (m1, a1), (m2, a2) = (2, 1), (sm.Rational(3, 2), sm.Rational(4, 5))
    i1, i2, c1, c2 = m1 * a1**2 / sm.Integer(12), m2 * a2**2 / 12, a1 / sm.Integer(2), a2 / 2
    (q1, q2), (v1, v2), g = arm.q, arm.v, sm.Rational(981, 100)
    coupling = m2 * (c2**2 + a1 * c2 * sm.cos(q2)) + i2
    own = i1 + m1 * c1**2 + i2 + m2 * (a1**2 + c2**2 + 2 * a1 * c2 * sm.cos(q2))
    mass = sm.Matrix([[own, coupling], [coupling, i2 + m2 * c2**2]])
    h = m2 * a1 * c2 * sm.sin(q2)
    velocity = sm.Matrix([-h * (2 * v1 * v2 + v2**2), h * v1**2])
    outer = m2 * c2 * g * sm.cos(q1 + q2)
    gravity = sm.Matrix([(m1 * c1 + m2 * a1) * g * sm.cos(q1) + outer, outer])
    for got, known in (
        (arm.mass_matrix, mass),
        (arm.velocity_force, velocity),
        (arm.gravity_force, gravity),
        (arm.bias_force, velocity + gravity),
    ):
        assert all(vanishes(x) for x in got - known)


def test_the_planar_arm_is_as_short_as_in_the_textbook(arm):
    q1, q2 = arm.q
    own = arm.mass_matrix[0, 0]
    assert own.atoms(sm.Function) == {sm.cos(q2)}
    assert sm.count_ops(own) == 3  # a cos(q2) + b
    assert arm.gravity_force[1].atoms(sm.Function) == {sm.cos(q1 + q2)}
    assert sm.count_ops(arm.velocity_force[0]) <= 7  # -h v2 (2 v1 + v2) sin(q2), h a number
    assert not any(x.has(sm.Rational(1, 2), sm.Float(0.5)) for x in arm.mass_matrix)


def test_textbook_form_of_the_cart_pole():
    equations = equations_of('cart_pole')
    n = {key: sm.Float(value) for key, value in CART_POLE.items()}
    (_, theta), (_, rate) = equations.q, equations.v
    coupling = n['m'] * n['l'] * sm.cos(theta)
    mass = [[n['M'] + n['m'] + n['armature'], coupling], [coupling, n['I'] + n['m'] * n['l'] ** 2]]
    centrifugal = -n['m'] * n['l'] * sm.sin(theta) * rate**2
    fall = -n['m'] * 9.81 * n['l'] * sm.sin(theta)  # the pole stands upright at 0
    assert all(vanishes(x) for x in equations.mass_matrix - sm.Matrix(mass))
    assert all(vanishes(x) for x in equations.velocity_force - sm.Matrix([centrifugal, 0]))
    assert all(vanishes(x) for x in equations.gravity_force - sm.Matrix([0, fall]))


def test_textbook_form_of_the_sleigh():
    equations = equations_of('sleigh')
    (_, _, yaw), (vx, vy, turn) = equations.q, equations.v
    m, a = SLEIGH['mass'], SLEIGH['com_x']
    c, s = sm.cos(yaw), sm.sin(yaw)
    inertia_zz = SLEIGH['tensor_zz'] + m * a**2
    mass = sm.Matrix([[m, 0, -m * a * s], [0, m, m * a * c], [-m * a * s, m * a * c, inertia_zz]])
    assert all(vanishes(x) for x in equations.mass_matrix - mass)
    assert equations.constraint_matrix == sm.ImmutableMatrix([[-s, c, 0]])
    assert vanishes(equations.constraint_acceleration[0] - turn * (vx * c + vy * s))
    assert equations.labels == ('base/no_side_slip',)


def test_friction_with_its_sign():
    equations = equations_of('cart_pole')
    (v1, v2), friction = equations.v, equations.friction
    assert vanishes(friction[0] - (0.2 * v1 + 0.5 * sm.sign(v1)))
    assert vanishes(friction[1] - 0.07 * sm.sign(v2))


@pytest.mark.parametrize('case', ['planar_2r', 'cart_pole', 'turned_arm'])
def test_lagrange_equations_hold_symbolically(case):
    # C v = dM/dt v - (1/2) d(v' M v)/dq and x' (dM/dt - 2 C) x = 0, where dq/dt = v
    equations = equations_of(case)
    M, C, v = equations.mass_matrix, equations.coriolis_matrix, sm.Matrix(equations.v)
    rate = sum((M.diff(q) * u for q, u in zip(equations.q, v, strict=True)), sm.zeros(*M.shape))
    energy = (v.T * M * v)[0] / 2
    force = rate * v - sm.Matrix([energy.diff(q) for q in equations.q])
    skew = rate - 2 * C
    assert all(vanishes(x) for x in equations.velocity_force - force)
    assert all(vanishes(x) for x in C * v - equations.velocity_force)
    assert all(vanishes(x) for x in skew + skew.T)


def test_quaternions_are_unit():
    equations = equations_of('double_pendulum')
    w, *vector = equations.q[:4]
    upper = equations.mass_matrix[:3, :3]
    assert not upper.has(w, *vector)  # seen from the upper body nothing depends on its own turn
    assert upper.has(equations.q[-1])


def test_solved_equations_are_the_forward_dynamics(rng):
    robot, constraints = CASES['sleigh']()
    equations = equations_of('sleigh')
    tau, (q, v, t) = rng.uniform(-1.0, 1.0, robot.nv), next(states(robot, rng))
    given = [*equations.q, *equations.v, equations.t, *equations.tau]
    values = dict(zip(given, [*q, *v, t, *tau], strict=True))
    unknown = [*equations.vdot, *equations.multipliers]
    (solution,) = sm.linsolve([e.subs(values) for e in equations.equations()], unknown)
    motion = kd.forward_dynamics(robot, q, v, tau, constraints, time=t)
    expected = [*motion.acceleration, *motion.multipliers]
    assert_allclose(np.array(solution, dtype=float), expected, rtol=0, atol=1e-11)


def test_quarter_turns_leave_no_roundoff():
    # cos(pi/2) is 6e-17 in floats: as coefficients such numbers would stand in every entry
    equations = equations_of('turned_arm')
    numbers = [abs(x) for q in QUANTITIES for x in getattr(equations, q).atoms(sm.Float)]
    assert min(numbers) > 1e-3
    assert sm.count_ops(equations.mass_matrix[1, 1]) <= 4  # a cos(c)^2


def test_small_coefficients_stay():
    light = inertia(1e-7, (0.01, 0, 0))
    bodies = [
        kd.Body('a', '', revolute('a', Z), inertia=inertia(5.0, (0.5, 0, 0))),
        kd.Body('b', 'a', revolute('b', Z), inertia=light),
    ]
    equations = equations_of_motion(kd.Robot('light', bodies))
    assert float(equations.mass_matrix[1, 1]) == pytest.approx(1e-11, rel=1e-12)


def test_names_of_symbols():
    bodies = [
        kd.Body('a', '', revolute('a'), inertia=inertia(1.0, (1, 0, 0))),
        kd.Body('b', 'a', revolute('v_a'), inertia=inertia(1.0, (1, 0, 0))),
        kd.Body('c', 'b', revolute('t'), inertia=inertia(1.0, (1, 0, 0))),
        kd.Body('d', 'c', revolute('joint-1 (left)'), inertia=inertia(1.0, (1, 0, 0))),
    ]
    robot = kd.Robot('names', bodies)
    e = equations_of_motion(robot)
    assert [x.name for x in e.q] == list(robot.coordinate_names)
    assert [x.name for x in e.tau] == [f'tau_{name}' for name in robot.velocity_names]
    assert len({*e.q, *e.v, *e.vdot, *e.tau, e.t}) == 17  # no two are one
    q, v, _ = next(states(robot, np.random.default_rng(2)))
    assert_allclose(
        e.lambdify('velocity_force')(q, v),
        kd.bias_force(robot, q, v) - kd.gravity_force(robot, q),
        rtol=0,
        atol=1e-11,  # entries up to 30
    )


class TestErrors:
    """What cannot be written down says so."""

    def test_too_many_speeds(self):
        bodies = [kd.Body('0', '', revolute('0'), inertia=inertia(1.0))]
        bodies += [
            kd.Body(str(k), str(k - 1), revolute(str(k)), inertia=inertia(1.0))
            for k in range(1, 21)
        ]
        with pytest.raises(InvalidInputError, match='21 speeds, at most 20'):
            equations_of_motion(kd.Robot('chain', bodies))

    def test_too_many_terms(self, monkeypatch):
        monkeypatch.setattr(symbolic_forms, 'MOST_TERMS', 5)
        with pytest.raises(InvalidInputError, match=r'too large to simplify: \d+ terms'):
            equations_of_motion(planar_2r())

    def test_too_many_products(self, monkeypatch):
        monkeypatch.setattr(symbolic_ring, 'MOST_PRODUCTS', 50)
        with pytest.raises(InvalidInputError, match=r'\d+ products of terms, at most 50'):
            equations_of_motion(planar_2r())

    def test_too_many_operations(self, monkeypatch):
        monkeypatch.setattr(symbolic, 'MOST_OPERATIONS', 100)
        with pytest.raises(InvalidInputError, match=r"'planar_2r' is too large .* operations"):
            equations_of_motion(planar_2r(), simplify=False)

    def test_a_large_robot_is_refused_in_seconds(self):
        robot = kd.serial_chain(7)
        with pytest.raises(InvalidInputError, match='too large to simplify'):
            equations_of_motion(robot)

    def test_untraceable_constraint(self):
        row = kd.constraints.pfaffian(planar_2r(), lambda q, t: [1.0 if q[0] > 1 else 2.0, 0.0])
        with pytest.raises(ConstraintError, match='cannot be traced'):
            equations_of_motion(planar_2r(), [row])

    def test_unknown_quantity(self, arm):
        with pytest.raises(NameNotFoundError, match="no quantity named 'inertia'") as error:
            arm.lambdify('inertia')
        assert 'mass_matrix' in error.value.available

    @pytest.mark.parametrize('digits', [0, 18, 2.5, '3'])
    def test_digits(self, arm, digits):
        for write in (arm.text, arm.latex):
            with pytest.raises(InvalidInputError, match='digits: need a whole number'):
                write(digits)

    def test_without_sympy(self, monkeypatch):
        monkeypatch.setitem(sys.modules, 'sympy', None)
        with pytest.raises(MissingPackageError, match=r"pip install 'kane_dynamics\[symbolic\]'"):
            equations_of_motion(planar_2r())


def test_sympy_is_imported_when_it_is_needed():
    code = 'import kane_dynamics.symbolic.equations, sys; sys.exit("sympy" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0


def test_all_public_names_are_there_without_sympy():
    code = 'import sys; sys.modules["sympy"] = None; from kane_dynamics import *'
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0
