# SPDX-License-Identifier: Apache-2.0
"""What a robot is made of, as plain values: for tables and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import vec4
from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot_config.inspection import Findings
from kane_dynamics.robot_config.robot_source import RobotModel


def robot_facts(model: RobotModel, result: Findings) -> dict[str, Any]:
    """Return everything of a robot by name; units are in the names."""
    robot = model.robot
    masses = [body.inertia.mass for body in robot.bodies]
    return {
        'name': robot.name,
        'base': robot.base,
        'nq': robot.nq,
        'nv': robot.nv,
        'mass_kg': float(sum(masses)),
        'gravity_m_s2': robot.gravity,
        'bodies': [_body(robot, i) for i in range(len(robot.bodies))],
        'speeds': speeds(model),
        'coordinates': [
            {'name': name, 'lower': lower, 'upper': upper}
            for name, lower, upper in zip(
                robot.coordinate_names, robot.lower.tolist(), robot.upper.tolist(), strict=True
            )
        ],
        'joints': [{'name': one.name, 'role': one.role} for one in result.joints],
        'mimic': mimics(robot),
        'wheels': [wheel_facts(wheel) for wheel in result.wheels],
        'supports_m': result.supports,
        'frames_by_use': {
            'root': result.frames.root,
            'base': result.frames.base,
            'imu': result.frames.imu,
            'tools': result.frames.tools,
        },
        'frames': [_frame(robot, name) for name in robot.frames],
        'constraints': [*ConstraintSet(robot, model.constraints).labels],
    }


def speeds(model: RobotModel) -> list[dict[str, Any]]:
    """Return what is known of each speed [SI]; limits are infinite where unknown."""
    robot = model.robot
    columns = {
        'velocity_limit': robot.velocity_limit,
        'effort_limit': robot.effort_limit,
        'damping': robot.damping,
        'friction': robot.friction,
        'armature': robot.armature,
    }
    return [
        {
            'name': name,
            'motor': name in model.actuated,
            **{key: float(values[i]) for key, values in columns.items()},
        }
        for i, name in enumerate(robot.velocity_names)
    ]


def mimics(robot: Robot) -> list[dict[str, Any]]:
    """Return the joints that follow others: q = ratio q_master + offset."""
    return [
        {
            'joint': body.joint.name,
            'master': body.mimic.master,
            'ratio': body.mimic.ratio,
            'offset': body.mimic.offset,
        }
        for body in robot.bodies
        if body.mimic is not None
    ]


def wheel_facts(wheel: FoundWheel) -> dict[str, Any]:
    """Return what a description shows of a wheel."""
    return {
        'joint': wheel.joint,
        'kind': wheel.kind,
        'radius_m': wheel.radius,
        'centre_m': wheel.centre,
        'axis': wheel.axis,
        'steering': wheel.steering,
        'trail_m': wheel.trail,
    }


def _body(robot: Robot, i: int) -> Mapping[str, Any]:
    body = robot.bodies[i]
    return {
        'name': body.name,
        'parent': body.parent or None,
        'joint': body.joint.name,
        'kind': type(body.joint.kind).__name__.lower(),
        'follows': body.mimic.master if body.mimic else None,
        'mass_kg': body.inertia.mass,
        'com_m': body.inertia.com,
        'depth': len(robot.ancestors(i)) - 1,
    }


def _frame(robot: Robot, name: str) -> Mapping[str, Any]:
    frame = robot.frames[name]
    return {
        'name': name,
        'body': robot.bodies[frame.body].name if frame.body >= 0 else None,
        'position_m': np.asarray(frame.pose.position(), dtype=float),
        'wxyz': vec4(frame.pose.rotation),
    }
