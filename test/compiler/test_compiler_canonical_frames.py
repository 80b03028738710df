# SPDX-License-Identifier: Apache-2.0
"""Graphs in canonical body frames: fewer operations, never more, and the same functions."""

import casadi as ca
import numpy as np
import pytest
from kernel_cases import CASES, error
from support.machines import planar_2r
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.compiler.graphs.step_graphs import impulse, place, project
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph

# recursions from body to body; the rest is traced in the frames as given
CANONICAL = (
    function_graph('inverse_dynamics'),
    function_graph('bias_force'),
    function_graph('gravity_force'),
    function_graph('mass_matrix'),
    Tracer.forward_dynamics,
    impulse,
    place,
    project,
)
ARITHMETIC = {ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV}


def operations(graph, robot, constraints=(), **options):
    """Return the additions and multiplications of a graph; a sign is part of a subtraction."""
    function = graph(Tracer(robot, constraints, ('tip',), **options)).function
    return sum(function.instruction_id(k) in ARITHMETIC for k in range(function.n_instructions()))


@pytest.mark.parametrize('graph', CANONICAL)
@pytest.mark.parametrize('joints', [2, 5])
def test_fewer_operations_for_chains(graph, joints):
    robot = kd.serial_chain(joints)
    assert operations(graph, robot) < operations(graph, robot, canonical=False)


@pytest.mark.parametrize(
    'graph',
    [
        function_graph('inverse_dynamics'),
        pytest.param(Tracer.forward_dynamics, marks=pytest.mark.thorough),  # half a minute
    ],
)
@pytest.mark.parametrize('name', CASES)
def test_never_more_operations(graph, name):
    case = CASES[name]()
    given = operations(graph, case.robot, case.constraints, canonical=False)
    assert operations(graph, case.robot, case.constraints) <= given


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize(
    'graph', [function_graph('inverse_dynamics'), function_graph('mass_matrix')]
)
def test_never_more_for_trees(graph, seed):
    kinds = ('revolute', 'prismatic', ('helical', 'cylindrical', 'planar')[seed % 3])
    robot, *_ = tree_and_state(seed, BASES[seed // 2], kinds=kinds)
    assert operations(graph, robot) < operations(graph, robot, canonical=False)


@pytest.mark.parametrize('graph', CANONICAL)
def test_zero_offsets_add_nothing(graph):
    # the textbook arm has these frames: instruction by instruction the same graph
    one, other = (Tracer(planar_2r(), (), (), canonical=choice) for choice in (True, False))
    assert all(x.is_symbolic() for x in one.canonical_q)
    graphs = [graph(tracer).function for tracer in (one, other)]
    assert graphs[0].n_instructions() == graphs[1].n_instructions()
    assert [graphs[0].instruction_id(k) for k in range(graphs[0].n_instructions())] == [
        graphs[1].instruction_id(k) for k in range(graphs[1].n_instructions())
    ]


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize(
    'graph', [*CANONICAL, function_graph('kinetic_energy'), Tracer.balance_derivatives]
)
def test_same_functions(graph, base, rng):
    robot, q, *_ = tree_and_state(5, base, kinds=('revolute', 'helical'))
    lock = kd.constraints.lock(robot, 'helical_joint')
    functions = [
        graph(Tracer(robot, (lock,), (), canonical=choice)).function for choice in (True, False)
    ]
    more = [rng.uniform(0.1, 0.9, functions[0].size1_in(k)) for k in range(1, functions[0].n_in())]
    results = [
        np.hstack([np.array(part).ravel() for part in function.call([q, *more])])
        for function in functions
    ]
    # the derivatives are sums of some thousand products
    assert error(results[0], results[1]) < 1e-12


def test_poses_are_of_the_robot_as_given():
    robot, q, *_ = tree_and_state(1, 'floating', kinds=('revolute', 'prismatic'))
    tracer = Tracer(robot, (), ('tool',))
    x = kd.forward_kinematics(robot, q).pose('tool')
    got = np.array(function_graph('frame_poses')(tracer).function(q)[0]).ravel()
    assert error(got, np.r_[x.position(), x.rotation.components]) < 1e-14
