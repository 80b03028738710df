# SPDX-License-Identifier: Apache-2.0
"""Libraries of robots, each written once for all tests of a process."""

import shutil
from types import SimpleNamespace

import pytest
from support.mechanisms import four_bar_loop

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.control.node_dynamics import known_speeds
from kane_dynamics.deployment.core import Plan, write_core
from kane_dynamics.robot_config.robot_source import model_of_file


@pytest.fixture(scope='session')
def compiler():
    """Return nothing; skip, loudly, where no library can be linked."""
    for tool in ('cc', 'gcc', 'nm'):
        if shutil.which(tool) is None:
            pytest.skip(f'NO C COMPILER: {tool} is not installed, nothing of `build` is tested')


@pytest.fixture(scope='session')
def mobile(compiler, tmp_path_factory):
    """Return the library of the shipped robot on two wheels, and the compiled robot."""
    model = model_of_file('nonholonomic')
    plan = Plan(
        model.robot,
        ConstraintSet.of(model.robot, model.constraints),
        'mobile_arm',
        model.actuated,
        known_speeds(model, ()),
        frames=('tool_link',),
        urdf=model.text,
    )
    folder = tmp_path_factory.mktemp('mobile')
    functions = write_core(plan, folder)
    fast = kd.compile(plan.robot, plan.constraints)  # as the nodes do: once for all tests
    return SimpleNamespace(plan=plan, folder=folder, functions=functions, fast=fast)


@pytest.fixture(scope='session')
def four_bar(compiler, tmp_path_factory):
    """Return the library of a closed four-bar linkage, and a state."""
    robot, rows, q, v = four_bar_loop()
    constraints = ConstraintSet.of(robot, rows)
    functions = ('gravity_force', 'forward_dynamics', 'load')
    carrying = ('coupler', 'coupler_end')
    plan = Plan(robot, constraints, 'four_bar', (), payloads=carrying, functions=functions)
    folder = tmp_path_factory.mktemp('four_bar')
    write_core(plan, folder)
    return SimpleNamespace(plan=plan, folder=folder, q=q, v=v)
