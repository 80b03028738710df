# SPDX-License-Identifier: Apache-2.0
"""
The formulations of the five papers, on the same terms and constraint rows.

A new method of `forward_dynamics` is one file here and one line of `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations.canonical import by_canonical, by_nonminimal
from kane_dynamics.formulations.gauss import by_gauss, by_newton_euler
from kane_dynamics.formulations.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.formulations.gibbs_appell import by_gibbs_appell
from kane_dynamics.formulations.kane import by_kane
from kane_dynamics.formulations.lagrange import by_lagrange
from kane_dynamics.formulations.problem import MethodTerms, Problem
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


class Method(NamedTuple):
    """A method of forward dynamics, and whether it works in generalized speeds of the user."""

    solve: Callable[[Problem], Motion]
    in_speeds: bool = False


METHODS = {
    'gauss': Method(by_gauss),
    'newton_euler': Method(by_newton_euler),
    'gibbs_appell': Method(by_gibbs_appell),
    'lagrange': Method(by_lagrange),
    'kane': Method(by_kane, in_speeds=True),
    'nonminimal': Method(by_nonminimal, in_speeds=True),
    'canonical': Method(by_canonical, in_speeds=True),
}
SPEED_METHODS = tuple(name for name, method in METHODS.items() if method.in_speeds)


def solve_by(
    method: str,
    robot: Robot,
    terms: MethodTerms,
    q: Floats,
    v: Floats,
    tau: Floats,
    t: float,
    speeds: GeneralizedSpeeds | None,
) -> Motion:
    """Return the motion by a named method from given terms."""
    as_choice('method', method, METHODS)
    if speeds is not None:
        checked_generalized_speeds(speeds, robot)
        if method not in SPEED_METHODS:
            raise InvalidInputError(
                f'method {method!r} has no generalized speeds; {list(SPEED_METHODS)} have'
            )
    applied = tau - joint_friction(robot, v.tolist())
    return METHODS[method].solve(Problem(terms, q, v, t, applied, terms.rows(q, v, t), speeds))
