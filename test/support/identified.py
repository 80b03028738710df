# SPDX-License-Identifier: Apache-2.0
"""Motions that show the parameters of a robot, and samples of them with efforts of a model."""

import numpy as np

from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.identification.friction import friction_columns
from kane_dynamics.identification.samples import Samples


def exciting_motion(nv, duration=10.0, rate=100.0, seed=3):
    """Return t, q, v, a of five harmonics in all joints."""
    rng = np.random.default_rng(seed)
    t, w = np.arange(0.0, duration, 1.0 / rate), 2.0 * np.pi / 10.0
    q, v, a = np.zeros((3, len(t), nv))
    for k in range(1, 6):
        size, phase = rng.uniform(0.1, 0.4, nv), rng.uniform(-np.pi, np.pi, nv)
        angle = k * w * t[:, None] + phase
        q += size * np.sin(angle)
        v += size * k * w * np.cos(angle)
        a -= size * (k * w) ** 2 * np.sin(angle)
    return t, q, v, a


def samples_of(t, q, v, a, tau):
    """Return samples whose history they are themselves."""
    return Samples(t, q, v, a, tau, tau, q, v, np.zeros_like(v), np.arange(len(t)))


def modelled_samples(dynamics, phi, friction=None, noise=0.0, **motion):
    """Return samples of an exciting motion: W phi, friction {kind: coefficient}, white noise."""
    robot = dynamics.robot
    t, q, v, a = exciting_motion(robot.nv, **motion)
    tau = dynamics.regressor(q, v, a) @ phi
    bare = samples_of(t, q, v, a, tau)
    for k, name in enumerate(robot.velocity_names):
        for kind, coefficient in (friction or {}).items():
            one = friction_columns(robot, bare, name, [FrictionTerm(kind)])
            tau[:, k] += coefficient * one[:, 0]
    tau = tau + noise * np.random.default_rng(8).normal(size=tau.shape)
    return samples_of(t, q, v, a, tau)
