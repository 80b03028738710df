# SPDX-License-Identifier: Apache-2.0
"""The windows of A02 in Exudyn and MuJoCo, on their own terms: coordinates, solvers, defaults."""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np

from studies.suites.iftomm import WINDOWS

DURATION = 10.0  # [s]


def in_exudyn(count: int, step: float) -> tuple[float, float]:
    """Return error at 10 s [m] and processor time [s] of Exudyn, set as in its own test."""
    import exudyn
    from exudyn import utilities as u

    exudyn.SetWriteToConsole(False)
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(u.ObjectGround(referencePosition=[0, 0, 0]))

    def bar(x: float, y: float, angle: float, speed: list[float]) -> tuple[Any, Any, Any]:
        where = {'referenceCoordinates': [x, y, angle], 'initialVelocities': speed}
        node = system.AddNode(u.NodeRigidBody2D(**where))
        body = system.AddObject(
            u.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node)
        )
        start, end, middle = (
            system.AddMarker(u.MarkerBodyPosition(bodyNumber=body, localPosition=[d, 0, 0]))
            for d in (-0.5, 0.5, 0.0)
        )
        system.AddLoad(u.Force(markerNumber=middle, loadVector=[0, -9.81, 0]))
        return node, start, end

    cranks = [bar(k, 0.5, np.pi / 2, [0.5, 0, -1]) for k in range(count + 1)]
    couplers = [bar(k + 0.5, 1.0, 0.0, [1, 0, 0]) for k in range(count)]
    for k, (_, start, end) in enumerate(cranks):
        pin = system.AddMarker(u.MarkerBodyPosition(bodyNumber=ground, localPosition=[k, 0, 0]))
        pairs = [(pin, start)]
        pairs += [(end, couplers[k][1])] if k < count else []
        pairs += [(end, couplers[k - 1][2])] if k else []
        for pair in pairs:
            system.AddObject(u.RevoluteJoint2D(markerNumbers=list(pair)))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(DURATION / step)
    settings.timeIntegration.endTime = DURATION
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.timeIntegration.newton.useModifiedNewton = True
    began = time.thread_time()
    system.SolveDynamic(settings)
    spent = time.thread_time() - began
    moved = system.GetNodeOutput(cranks[0][0], exudyn.OutputVariableType.Coordinates)[2]
    return _error(count, np.pi / 2 + moved), spent


def in_mujoco(count: int, step: float) -> tuple[float, float]:
    """Return error at 10 s [m] and processor time [s] of MuJoCo: RK4 and soft loops."""
    bars, loops = '', ''
    geom = '<inertial pos=".5 0 0" mass="1" diaginertia="1e-9 .0833333333333 .0833333333333"/>'
    hinge = '<joint type="hinge" axis="0 0 1"/>'
    for k in range(count + 1):
        coupler = f'<body name="coupler_{k}" pos="1 0 0">{hinge}{geom}</body>' if k < count else ''
        bars += f'<body name="crank_{k}" pos="{k} 0 0">{hinge}{geom}{coupler}</body>'
        if k:
            names = f'body1="coupler_{k - 1}" body2="crank_{k}" anchor="1 0 0"'
            loops += f'<connect {names} solref="{2 * step} 1"/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler boundmass="0"/><option timestep="{step}" integrator="RK4" '
        f'gravity="0 -9.81 0"/><worldbody>{bars}</worldbody><equality>{loops}</equality></mujoco>'
    )
    data = mujoco.MjData(model)
    turns = np.tile([1.0, -1.0], count + 1)[: model.nq]
    data.qpos[:], data.qvel[:] = turns * np.pi / 2, -turns
    began = time.thread_time()
    mujoco.mj_step(model, data, round(DURATION / step))
    return _error(count, float(data.qpos[0])), time.thread_time() - began


def _error(count: int, angle: float) -> float:
    """Return how far the end of the first crank is from the answer [m]."""
    return float(np.abs(np.array([np.cos(angle), np.sin(angle)]) - WINDOWS[count][10.0]).max())
