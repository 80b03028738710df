# SPDX-License-Identifier: Apache-2.0
"""Composite inertias by hand, and the zeros of the tree in traced matrices."""

import casadi as ca
import numpy as np
import pytest
from kernel_cases import CASES, error
from support.machines import X, Y, Z, at, inertia, planar_2r, revolute, turned
from support.trees import dense

import kane_dynamics as kd
from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.quaternions import pure, vec3
from kane_dynamics.algorithms.mass_matrix import CompositeInertia, composite_mass_matrix
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from studies.random_robots import random_inertia, random_pose


def test_planar_arm_by_hand():
    # two rods a, m: textbook M(q_2) of a planar arm
    (m1, a1), (m2, a2), q2 = (2.0, 1.0), (1.5, 0.8), 0.7
    cross = m2 * a1 * (a2 / 2) * np.cos(q2)
    tip = m2 * a2**2 / 3
    expected = [[m1 * a1**2 / 3 + m2 * a1**2 + tip + 2 * cross, tip + cross], [tip + cross, tip]]
    assert error(dense(composite_mass_matrix(planar_2r(), [0.3, q2])), expected) < 1e-15


def two_arms():
    """Return a hinge that carries two arms of two hinges each."""
    load = inertia(1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25))
    bodies = [kd.Body('trunk', '', revolute('trunk', Z), inertia=load)]
    for side, y in (('left', 0.3), ('right', -0.3)):
        place = turned(X, y, (0.1, y, 0.2))
        bodies += [
            kd.Body(f'{side}_1', 'trunk', revolute(f'{side}_1', Y), place, load),
            kd.Body(f'{side}_2', f'{side}_1', revolute(f'{side}_2', X), at(0, 0, 0.4), load),
        ]
    return kd.Robot('two_arms', bodies)


def test_traced_matrix_has_no_entry_between_branches():
    spec = function_graph('mass_matrix')(Tracer(two_arms(), (), ()))
    pattern = spec.function.sparsity_out(0)
    assert not pattern.has_nz(1, 3)
    assert not pattern.has_nz(4, 2)
    # one entry for each pair of speeds on one path, both triangles
    assert pattern.nnz() == 5 + 2 * (2 + 2 + 1 + 1)


def test_slides_in_space_have_constant_inertia():
    # nothing of M depends on q: the graph holds numbers only
    robot = CASES['slides']().robot
    function = function_graph('mass_matrix')(Tracer(robot, (), ())).function
    q = ca.SX.sym('q', 3)
    assert not ca.depends_on(function(q)[0], q)


class TestCompositeInertia:
    """The inertia of several bodies as an object."""

    def test_momentum(self, rng):
        body = random_inertia(rng)
        composite = CompositeInertia.of_body(body)
        omega, v = rng.normal(size=(2, 3))
        h = composite.momentum(DualQuaternion(pure(omega), pure(v)))
        p = body.mass * (v + np.cross(omega, body.com))
        spin = body.tensor @ omega + np.cross(body.com, p)
        assert error(vec3(h.primary), p) < 1e-15
        assert error(vec3(h.dual), spin) < 1e-14

    def test_moved_keeps_kinetic_energy(self, rng):
        body, x = CompositeInertia.of_body(random_inertia(rng)), random_pose(rng)
        moved = body.moved(x)
        for _ in range(3):
            twist = DualQuaternion(pure(rng.normal(size=3)), pure(rng.normal(size=3)))
            seen = x.adjoint(twist)  # the same motion, of and about the origin of the other frame
            assert energy(moved, seen) == pytest.approx(energy(body, twist), rel=1e-13)

    def test_moved_tensor_is_exactly_symmetric(self, rng):
        moved = CompositeInertia.of_body(random_inertia(rng)).moved(random_pose(rng))
        tensor = np.array([vec3(row) for row in moved.tensor])
        assert (tensor == tensor.T).all()


def energy(composite, twist):
    """Return the kinetic energy at a twist of the frame of the inertia."""
    h = composite.momentum(twist)
    return 0.5 * (vec3(twist.primary) @ vec3(h.dual) + vec3(twist.dual) @ vec3(h.primary))
