# SPDX-License-Identifier: Apache-2.0
"""A motion simulated by MuJoCo, sampled with the accelerations that MuJoCo reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats
from studies.peers.mujoco_twin import MujocoTwin
from studies.silva.cases import Case, Efforts, random_motion

SAMPLE = 0.01  # [s] between samples


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Samples of a motion, as rows.

    Parameters
    ----------
    time : ndarray, shape (F,)
        [s].
    q, v, tau : ndarray, shape (F, nv)
        Coordinates, speeds, efforts.
    acceleration : ndarray, shape (F, nv)
        MuJoCo's qacc of ``mj_forward`` at each sample.
    step : float
        Length of MuJoCo's steps (fourth-order Runge-Kutta) [s].

    """

    time: Floats
    q: Floats
    v: Floats
    tau: Floats
    acceleration: Floats
    step: float


def record(
    case: Case,
    samples: int,
    progress: Callable[[int], None] = lambda done: None,
    simulator: tuple[MujocoTwin, float] | None = None,
) -> Recording:
    """
    Return the motion of a case in MuJoCo, from rest.

    The efforts are MuJoCo's own gravity forces, the random sines of the case and the drag of the
    base, at every stage of MuJoCo's steps: smooth functions of time and state. Viscous friction of
    the joints is in the model.

    Parameters
    ----------
    case : Case
        The robot and its efforts.
    samples : int
        F.
    progress : callable
        progress(samples done).
    simulator : tuple of MujocoTwin and float, optional
        Another model than that of the case, and its step [s].

    """
    twin, step = simulator or case.simulator()
    q, efforts = random_motion(case)
    twin.set_state(q, np.zeros_like(q), np.zeros_like(q))
    rows: list[tuple[Floats, ...]] = []
    with _driven(twin, case, efforts) as own:
        for k in range(samples):
            mujoco.mj_forward(twin.model, twin.data)
            tau = twin.data.qfrc_applied[own]
            rows.append((*twin.state(), tau, twin.accelerations()))
            mujoco.mj_step(twin.model, twin.data, round(SAMPLE / step))
            progress(k + 1)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Recording(SAMPLE * np.arange(samples), *columns, step=step)


@contextmanager
def _driven(twin: MujocoTwin, case: Case, efforts: Efforts) -> Iterator[NDArray[np.int64]]:
    """Let MuJoCo ask for the efforts whenever it evaluates a state; yield where they stand."""
    model, still = twin.model, mujoco.MjData(twin.model)
    gravity = np.zeros(model.nv)
    names = case.robot.velocity_names
    own = np.array([model.joint(name).dofadr[0] for name in names])

    def apply(model: Any, data: Any) -> None:
        still.qpos[:] = data.qpos
        for prepare in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            prepare(model, still)
        mujoco.mj_rne(model, still, 0, gravity)  # Newton-Euler at rest
        drag = case.drag * data.qvel[own]
        data.qfrc_applied[own] = gravity[own] + efforts(data.time) - drag

    mujoco.set_mjcb_control(apply)
    try:
        yield own
    finally:
        mujoco.set_mjcb_control(None)
