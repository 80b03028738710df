# SPDX-License-Identifier: Apache-2.0
"""A robot of which one joint is driven in time, in speeds that depend on place and time."""

from dataclasses import dataclass

import numpy as np

import kane_dynamics as kd
from studies.random_robots import random_tree
from support.calculus import derivative
from support.trees import random_state

KINDS = ('revolute', 'prismatic', 'helical', 'cylindrical')
DRIVEN = 1  # index in q and in v of the driven joint


def position(t):
    """Return the position of the driven joint."""
    return 0.3 + 0.8 * np.sin(1.3 * t)


def rate(t):
    """Return its rate."""
    return 0.8 * 1.3 * np.cos(1.3 * t)


@dataclass(frozen=True)
class Rheonomic:
    """
    The free coordinates x (all of q but the driven one) and speeds u: xdot = W(x, t) u + X(x, t).

    Everything below is made of the kinetic energy of the whole robot and of W and X.
    """

    robot: kd.Robot
    W: object
    X: object
    speeds: kd.GeneralizedSpeeds
    x: np.ndarray
    u: np.ndarray
    t: float

    @property
    def n(self):
        return len(self.u)

    def q(self, x, t):
        return np.insert(x, DRIVEN, position(t))

    def x_rate(self, x, u, t):
        return np.array(self.W(x, t), dtype=float) @ u + np.array(self.X(x, t), dtype=float)

    def energy(self, x, x_rate, t):
        """Return K(x, xdot, t)."""
        return kd.kinetic_energy(self.robot, self.q(x, t), np.insert(x_rate, DRIVEN, rate(t)))

    def energy_in_speeds(self, x, u, t):
        """Return K(x, u, t), a quadratic function of u."""
        return self.energy(x, self.x_rate(x, u, t), t)

    def coefficients(self, x, t):
        """Return M, N and R of K = u' M u/2 + N u + R (3), from values of K only."""
        units = np.eye(self.n)

        def energy(u):
            return self.energy_in_speeds(x, u, t)

        R = energy(0.0 * self.u)
        N = np.array([0.5 * (energy(e) - energy(-e)) for e in units])
        single = [energy(e) for e in units]
        M = [[energy(a + b) - single[i] - single[j] + R for j, b in enumerate(units)]
             for i, a in enumerate(units)]  # fmt: skip
        return np.array(M), N, R

    def remainder_by_energy(self, slope):
        """
        Return L of F* = -Q udot - L by (12), for a given row K_q.

        L = W' (d/dt[W^-T M] u + d/dt[W^-T N'] - K_q').
        """
        x_rate = self.x_rate(self.x, self.u, self.t)

        def momentum_parts(s):
            x, t = self.x + s * x_rate, self.t + s
            M, N, _ = self.coefficients(x, t)
            inverse = np.linalg.inv(np.array(self.W(x, t), dtype=float)).T
            return np.column_stack([inverse @ M, inverse @ N])

        parts = derivative(momentum_parts)
        W = np.array(self.W(self.x, self.t), dtype=float)
        return W.T @ (parts[:, :-1] @ self.u + parts[:, -1] - slope)

    def slope_at_fixed_rates(self):
        """Return dK/dx at fixed xdot."""
        x_rate = self.x_rate(self.x, self.u, self.t)
        return np.array(
            [
                derivative(lambda s, e=e: self.energy(self.x + s * e, x_rate, self.t))
                for e in np.eye(self.n)
            ]
        )

    def slope_at_fixed_speeds(self):
        """Return dK/dx at fixed u."""
        return np.array(
            [
                derivative(lambda s, e=e: self.energy_in_speeds(self.x + s * e, self.u, self.t))
                for e in np.eye(self.n)
            ]
        )

    def motion(self, method='nonminimal', tau=None):
        """Return the motion of the robot in the speeds u by one of Kane's methods."""
        q = self.q(self.x, self.t)
        v = self.speeds.velocity(q, self.u, self.t)
        efforts = np.zeros(self.robot.nv) if tau is None else tau
        return kd.forward_dynamics(
            self.robot, q, v, efforts, method=method, speeds=self.speeds, time=self.t
        )


def rheonomic_system(seed):
    """Return such a system with random W and X at a random state, the same for the same seed."""
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, kinds=KINDS, mimic=False, armature=False, friction=False)
    n = robot.nv - 1
    mixing, phases = np.eye(n) + 0.4 * rng.normal(size=(n, n)), rng.uniform(-1, 1, (n, n))

    def matrix(x, t):
        return [
            [mixing[i, j] * (1.3 + np.sin(x[j] + t + phases[i, j])) for j in range(n)]
            for i in range(n)
        ]

    def offset(x, t):
        return [np.cos(2.0 * t + k) * x[k - 1] for k in range(n)]

    def free(q):
        return [q[k] for k in range(n + 1) if k != DRIVEN]

    def whole_matrix(q, t):
        rows = matrix(free(q), t)
        return rows[:DRIVEN] + [[0.0] * n] + rows[DRIVEN:]

    def whole_offset(q, t):
        entries = offset(free(q), t)
        return entries[:DRIVEN] + [rate(t)] + entries[DRIVEN:]

    speeds = kd.generalized_speeds(robot, whole_matrix, whole_offset)
    q, _, u = random_state(robot, rng)
    return Rheonomic(robot, matrix, offset, speeds, np.delete(q, DRIVEN), u[:n], 0.4)
