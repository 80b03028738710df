# SPDX-License-Identifier: Apache-2.0
"""A model with exact wheels in files, laid out so that mujoco_ros2_control finds its plugin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kane_dynamics.constraints.base import Constraint
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.mujoco.plugin import attach
from kane_dynamics.mujoco.urdf import spec_of_urdf
from kane_dynamics.robot.mjcf import mujoco_module
from kane_dynamics.robot.robot import Robot

PLUGINS = 'lib/mujoco_plugins'
"""Where the plugin is, as the ament resource `mujoco_plugins` says."""


def write_prefix(
    text: str,
    robot: Robot,
    constraints: Sequence[Constraint],
    motors: Sequence[str],
    name: str,
    folder: Path,
    scene: Path | None = None,
) -> Path:
    """Write NAME.xml, the plugin and its ament resource; return the model's path."""
    spec = spec_of_urdf(text, robot, motors)
    spec.modelname = name
    if scene is not None:
        frame = spec.worldbody.add_frame()
        try:
            spec.attach(mujoco_module().MjSpec.from_file(str(scene)), frame=frame, prefix='scene_')
        except ValueError as error:
            raise InvalidInputError(
                f'scene: need a file of MuJoCo, got {scene}: {error}'
            ) from error
    attach(spec, robot, constraints, folder=folder / PLUGINS)
    spec.compile()
    model = folder / f'{name}.xml'
    model.write_text(spec.to_xml(), encoding='utf-8')
    index = folder / 'share' / 'ament_index' / 'resource_index'
    for kind, content in (('mujoco_plugins', PLUGINS), ('packages', '')):
        (index / kind).mkdir(parents=True, exist_ok=True)
        (index / kind / f'{name}_wheels').write_text(content, encoding='utf-8')
    return model
