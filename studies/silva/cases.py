# SPDX-License-Identifier: Apache-2.0
"""The three robots of the evaluation, with the efforts that move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies import robots
from studies.peers.mujoco_twin import MujocoTwin
from studies.silva.contact import no_slip_model

SEED = 2022
SINES = 3  # in the effort of each coordinate
FREQUENCIES = (0.2, 1.5)  # [Hz]
RAMP = 0.5  # [s] in which the efforts grow from nothing


@dataclass(frozen=True, eq=False)
class Case:
    """
    A robot and how it is moved.

    Parameters
    ----------
    key : str
        Its name in files and in `paper.CORRELATIONS`.
    title : str
        Its name in tables.
    robot : Robot
        The robot.
    constraints : tuple
        Its constraints.
    amplitude : ndarray, shape (nv,)
        Scale of the sines of each effort [N m or N].
    drag : ndarray, shape (nv,)
        D of an effort -D v that keeps a base from running away [N m s/rad or N s/m].
    seed : int
        Of the initial posture and the sines.
    stride : int
        Accelerations of this package are computed at every stride-th sample.

    """

    key: str
    title: str
    robot: kd.Robot
    constraints: tuple[Any, ...]
    amplitude: Floats
    drag: Floats
    seed: int = SEED
    stride: int = 1

    def simulator(self) -> tuple[MujocoTwin, float]:
        """Return the robot in MuJoCo and the length of a step [s]."""
        if self.constraints:
            return no_slip_model(self.robot)
        model = MujocoTwin(self.robot)
        return model, float(model.model.opt.timestep)


@dataclass(frozen=True, eq=False)
class Efforts:
    """
    Sums of sines with random amplitudes, frequencies and phases, zero and at rest at t = 0.

    Parameters
    ----------
    amplitude, frequency, phase : ndarray, shape (SINES, nv)
        [N m or N], [Hz], [rad].

    """

    amplitude: Floats
    frequency: Floats
    phase: Floats

    def __call__(self, t: float) -> Floats:
        """Return the efforts at a time [s], shape (nv,)."""
        s = min(t / RAMP, 1.0)
        growth = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        waves = np.sin(2.0 * np.pi * self.frequency * t + self.phase)
        result: Floats = growth * np.sum(self.amplitude * waves, axis=0)
        return result


def random_motion(case: Case) -> tuple[Floats, Efforts]:
    """Return the initial posture, shape (nv,) [rad or m], and the efforts of a case."""
    rng = np.random.default_rng(case.seed)
    nv = case.robot.nv
    q = rng.uniform(-0.5, 0.5, nv)
    part = rng.uniform(0.3, 1.0, (SINES, nv)) * rng.choice((-1.0, 1.0), (SINES, nv))
    frequency = rng.uniform(*FREQUENCIES, (SINES, nv))
    phase = rng.uniform(0.0, 2.0 * np.pi, (SINES, nv))
    return q, Efforts(part * case.amplitude, frequency, phase)


def damped(robot: kd.Robot, damping: Sequence[float]) -> kd.Robot:
    """Return the robot with viscous friction on its last joints [N m s/rad], in both models."""
    undamped = len(robot.bodies) - len(damping)
    links = [
        replace(body, joint=replace(body.joint, damping=rate))
        for body, rate in zip(robot.bodies[undamped:], damping, strict=True)
    ]
    return kd.Robot(robot.name, [*robot.bodies[:undamped], *links])


def serial(joints: int = 50, seed: int = SEED) -> Case:
    """Return the serial arm, `kd.serial_chain`."""
    return Case(
        'serial',
        f'{joints}-DoF serial arm',
        damped(kd.serial_chain(joints), joints * [5.0]),
        (),
        amplitude=np.full(joints, 5.0),
        drag=np.zeros(joints),
        seed=seed,
        stride=2,
    )


def holonomic(seed: int = SEED) -> Case:
    """Return the shipped robot that moves freely on the plane: 3 + 6 coordinates."""
    return Case(
        'holonomic',
        '9-DoF holonomic mobile manipulator',
        damped(robots.holonomic().robot, [3.0, 3.0, 3.0, 0.5, 0.5, 0.1]),
        (),
        amplitude=np.array([60.0, 60.0, 15.0, 6.0, 6.0, 5.0, 0.4, 0.5, 0.05]),
        drag=np.array([20.0, 20.0, 10.0, *6 * [0.0]]),
        seed=seed,
    )


def nonholonomic(seed: int = SEED) -> Case:
    """
    Return the benchmark's mobile manipulator with the one row of (64): 9 coordinates, 8 DoF.

    A platform on the plane with an arm of six joints; its axle goes through the origin of the
    platform, which cannot move sideways.
    """
    robot = damped(robots.mobile_arm().robot, [0.5, 0.5, 0.3, 0.1, 0.1, 0.1])
    return Case(
        'nonholonomic',
        '8-DoF nonholonomic mobile manipulator',
        robot,
        (kd.constraints.no_side_slip(robot),),
        amplitude=np.array([40.0, 40.0, 8.0, 2.0, 2.0, 1.0, 0.3, 0.2, 0.1]),
        drag=np.array([10.0, 10.0, 3.0, *6 * [0.0]]),
        seed=seed,
    )
