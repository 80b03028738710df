# SPDX-License-Identifier: Apache-2.0
"""What the single environment and the vector of them have in common: spaces, infos, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.learning.gymnasium_package import gymnasium
from kane_dynamics.learning.reach_task import PERIOD, reach_task
from kane_dynamics.learning.reading import Reading
from kane_dynamics.learning.scene import Scene
from kane_dynamics.robot.checks import as_choice, as_mapping, as_numbers, not_finite
from kane_dynamics.typing import Floats

PICTURE = 'rgb_array'
METADATA = {'render_modes': [PICTURE], 'render_fps': round(1.0 / PERIOD)}

Flags = NDArray[np.bool_]
Infos = dict[str, Any]


def infos_of(scene: Scene, reading: Reading) -> dict[str, NDArray[Any]]:
    """Return what is told beside observations, a row for each environment."""
    return {
        'distance': reading.distance,
        'angle': reading.angle,
        'success': reading.there,
        'payload_mass': scene.mass,
        'viscous_friction': scene.viscous,
        'dry_friction': scene.dry,
    }


def action_space() -> Any:
    """Return the actions: speeds of both wheels and five arm joints, -1 to 1 of their limits."""
    return gymnasium.spaces.Box(-1.0, 1.0, (len(reach_task().drives),), np.float32)


def observation_space() -> Any:
    """Return the observations; see `ReachTask.bounds`."""
    bounds = reach_task().bounds
    return gymnasium.spaces.Box(-bounds, bounds, dtype=np.float32)


def checked_actions(actions: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return actions within -1 and 1; InvalidInputError if they are none of this shape."""
    values = as_numbers('action', actions)
    if values.shape != shape:
        raise InvalidInputError(f'action: need shape {shape}, got shape {values.shape}')
    if not np.isfinite(values).all():
        raise InvalidInputError(f'action: need finite numbers, got {not_finite(values)}')
    return np.clip(values, -1.0, 1.0)


def begun(scene: Scene | None) -> Scene:
    """Return the scene of an episode that has begun, else InvalidInputError."""
    if scene is None:
        raise InvalidInputError('no episode has begun: call reset first')
    return scene


def check_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> None:
    """Check that options of a reset are known: InvalidInputError."""
    for name in as_mapping('options', {} if options is None else options):
        as_choice('option of reset', name, known)


def checked_render_mode(mode: str | None) -> str | None:
    """Return a render mode that exists, or None, else InvalidInputError."""
    return None if mode is None else as_choice('render_mode', mode, [PICTURE])
