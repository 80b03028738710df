# SPDX-License-Identifier: Apache-2.0
"""Whether damping is too stiff for the steps of any rollout."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import DivergedError
from kane_dynamics.rollouts.inputs import Inputs
from kane_dynamics.rollouts.schedule import Schedule
from kane_dynamics.simulation.damping import STABLE, check_damping
from kane_dynamics.typing import Floats


def check_damping_of_rollouts(dynamics: Dynamics, schedule: Schedule, inputs: Inputs) -> None:
    """
    Check that damping is not too stiff for an explicit integrator where rollouts start.

    Starts whose damping is slow without constraints are slow with them, and payloads slow it
    down: only the others are looked at one by one.

    Raises
    ------
    DivergedError
        If it is, with the number of the rollout.

    """
    robot, limit = dynamics.robot, STABLE.get(schedule.integrator)
    if limit is None or not robot.damping.any() or not len(inputs):
        return
    starts = np.arange(1 if inputs.starts == 1 else len(inputs))
    starts = starts[np.isfinite(inputs.q[starts]).all(axis=1)]
    if not inputs.payloads.keys() & dynamics.load().payload.keys():
        starts = starts[_may_be_stiff(dynamics, inputs.q[starts], limit / schedule.step)]
    shared = inputs.starts == 1 and inputs.loaded and len(starts) > 0
    rows = np.arange(len(inputs)) if shared else starts
    for row in rows.tolist():
        try:
            loaded = inputs.load(dynamics, row).robot
            how = schedule.integrator, inputs.q[row], 0.0, schedule.step
            check_damping(loaded, dynamics.constraints, *how)
        except DivergedError as error:
            error.args = (f'rollout {row}: {error}',)
            raise


def _may_be_stiff(dynamics: Dynamics, q: Floats, most: float) -> NDArray[np.bool_]:
    """Return where the largest rate of decay without constraints exceeds `most` [1/s], (B,)."""
    try:
        roots = np.linalg.cholesky(dynamics.mass_matrix(q))
    except np.linalg.LinAlgError:  # a body without mass
        return np.ones(len(q), dtype=bool)
    damped = np.linalg.solve(roots, np.diag(np.sqrt(dynamics.robot.damping))[None])
    # the sum of all rates is cheap, and mostly enough
    stiff: NDArray[np.bool_] = ~(np.square(damped).sum(axis=(1, 2)) <= most)
    squares = damped[stiff] @ damped[stiff].transpose(0, 2, 1)
    stiff[stiff] = ~(np.linalg.eigvalsh(squares)[:, -1] <= most)
    return stiff
