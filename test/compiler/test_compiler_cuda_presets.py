# SPDX-License-Identifier: Apache-2.0
"""Kernels of stand-ins for the robots of all presets do not spill in single precision."""

from pathlib import Path

import pytest
from support import cuda

from kane_dynamics.compiler.graphs.inverse_dynamics import constrained_effort
from kane_dynamics.compiler.graphs.trace import Tracer, function_graph
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import build_model

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path.stem for path in (ROOT / 'config' / 'robots').glob('*.yaml'))
AXES = '0 0 1', '0 1 0', '1 0 0'


@pytest.mark.thorough
@pytest.mark.parametrize('robot', FILES)
def test_stand_ins_of_presets_do_not_spill(robot, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'test' / 'ros')
    import preset_robots
    import ros_models

    p = ros_models.from_preset(f'robots/{robot}', InverseDynamicsParameters)
    model = build_model(p, preset_robots.stand_in(robot, AXES))
    made_of = cuda.recipe(model.robot, model.constraints)
    graphs = [(function_graph('inverse_dynamics'),), (Tracer.forward_dynamics,)]
    if model.constraints:
        graphs.append((constrained_effort, model.actuated, None))
    for graph, *choices in graphs:
        for architecture in ('sm_80', 'sm_90', 'sm_120'):
            usage = cuda.assembled(made_of, graph, 'float32', architecture, *choices)
            assert (usage.spill_stores, usage.spill_loads) == (0, 0), (graph, architecture)
