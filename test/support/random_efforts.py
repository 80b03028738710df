# SPDX-License-Identifier: Apache-2.0
"""Constrained inverse dynamics of random trees with redundant rows, by both engines."""

import numpy as np

import kane_dynamics as kd
from kane_dynamics.compiler.build import straight_line, tracer_of
from kane_dynamics.compiler.graphs.inverse_dynamics import constrained_effort
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.recipe import INPUTS, Recipe
from studies.random_robots import random_tree
from support.compiling import compiled_kernel
from support.trees import random_state


class AskedTheReferenceError(Exception):
    """Machine code was not sure."""


def refuse(*_):
    """Stand in for the reference."""
    raise AskedTheReferenceError


def difference_of_engines(seed):
    """
    Return the largest difference relative to the largest number, and states of the reference.

    Two rows, one of them twice in other words; as many actuators as freedoms, or more.
    """
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, ('fixed', 'planar', 'floating')[seed % 3])
    A, c = rng.normal(size=(2, robot.nv)), kd.constraints
    rows = (
        c.pfaffian(robot, lambda q, t: A[0] * (2.0 + np.sin(q[0])), label='bent'),
        c.pfaffian(robot, lambda q, t: A[1], label='straight'),
        c.pfaffian(robot, lambda q, t: -3.0 * A[1], label='again'),
    )
    reference = kd.dynamics(robot, rows)
    q, v, a = random_state(robot, rng)
    v = reference.consistent_velocity(q, v)
    a = reference.consistent_acceleration(q, v, a)
    recipe = Recipe(robot, reference.constraints, row_plan(reference.constraints), (), (), False)
    worst, asked, weights = 0.0, 0, np.linspace(1.0, 2.0, robot.nv)
    for actuated in (robot.velocity_names[2:], robot.velocity_names):
        spec = straight_line(constrained_effort, tracer_of(recipe), actuated, None)
        names = INPUTS['constrained_effort']
        gravity = np.array(robot.gravity)
        kernel = compiled_kernel(spec, names, refuse, parameters=gravity)
        try:
            found = kernel.call(q, v, a, weights, np.ones(4), np.zeros(1))
        except AskedTheReferenceError:
            asked += 1
            continue
        expected = reference.constrained_inverse_dynamics(q, v, a, actuated, weights).numbers
        difference = np.abs(found - expected)[:-2]  # residuals are roundoff
        worst = np.maximum(worst, difference.max() / (1.0 + np.abs(expected).max()))  # NaN stays
    return worst, asked
