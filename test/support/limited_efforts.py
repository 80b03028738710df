# SPDX-License-Identifier: Apache-2.0
"""Robots whose rows and motors can work against each other, for efforts within limits."""

import numpy as np

import kane_dynamics as kd
from support.trees import tree_and_state


class OverActuated:
    """A random tree with all speeds driven, and rows that can take any part of the force."""

    def __init__(self, seed, base, rows=4, repeated=()):
        self.robot, q, v, a = tree_and_state(seed, base)
        rng = np.random.default_rng(seed)
        self.rng, rows = rng, min(rows, self.robot.nv - 1)
        A = rng.normal(size=(rows, self.robot.nv))
        A = np.vstack([A, *(2.0 * A[k] for k in repeated)])
        self.constraints = (kd.constraints.pfaffian(self.robot, lambda q, t: A, label='row'),)
        v = kd.consistent_velocity(self.robot, q, v, self.constraints)
        a = kd.consistent_acceleration(self.robot, q, v, 3.0 * a, self.constraints)
        self.A, self.labels = A, kd.constraints.ConstraintSet(self.robot, self.constraints).labels
        self.weights = rng.uniform(0.5, 2.0, self.robot.nv)
        self.needed = kd.inverse_dynamics(self.robot, q, v, a)
        self.state = self.robot, q, v, a, self.constraints, self.robot.velocity_names
        self.free = kd.constrained_inverse_dynamics(*self.state, self.weights)

    def limits_around(self, multipliers):
        """Return limits that these multipliers keep, and that the free solution mostly breaks."""
        effort = np.abs(self.needed - self.A.T @ multipliers)
        least = np.where(self.rng.random(len(effort)) < 0.5, 1.01, 3.0) * effort + 0.01
        return np.maximum(least, 0.0)

    def limited(self, **options):
        return kd.limited_inverse_dynamics(*self.state, self.weights, **options)
