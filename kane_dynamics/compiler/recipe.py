# SPDX-License-Identifier: Apache-2.0
"""What machine code of a robot is made of: options, inputs, precisions, bounds on size, hash."""

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.compiler.cache import (
    CachedKernel,
    NotCachedError,
    cache_folder,
    load_kernels,
    only_cached,
    store_kernels,
)
from kane_dynamics.compiler.graphs.row_plan import MOST_ROWS, RowPlan
from kane_dynamics.compiler.law import Law
from kane_dynamics.compiler.llvm.entry import OBJECT_HEADER
from kane_dynamics.compiler.llvm.native import processor
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.table import AT_START, FUNCTIONS, ON_DEMAND
from kane_dynamics.exceptions import (
    InvalidInputError,
    MissingPackageError,
    NotFingerprintableError,
)
from kane_dynamics.robot.body import add_content
from kane_dynamics.robot.robot import WORLD, Robot

INPUTS = {row.kernel: row.inputs for row in FUNCTIONS.values()} | {
    'external_force': ('q', 'wrenches'),
    'motion': ('q', 'v', 'tau', 'time'),
    'inertial_effort': ('q', 'a'),
    'coriolis_effort': ('q', 'v', 'x'),
    'balance_derivatives': ('q', 'v', 'a', 'lambda', 'time'),
    'effort_tangent': ('q', 'v', 'a', 'dq', 'dv'),
    'row_tangent': ('q', 'v', 'a', 'lambda', 'time', 'dq', 'dv'),
    'constraint_rows': ('q', 'v', 'time'),
    'row_table': ('q', 'v', 'time'),
    'gibbs_gradient': ('q', 'v', 'a'),
    'lagrange_terms': ('q', 'v'),
}
"""Names of the inputs, by kernel."""
FORWARD = 'forward_dynamics'
OUTSIDE = ('mass_matrix', 'bias_force', 'constraint_rows')
"""Kernels that solves by dense rows call and do not hold."""
STEPS = 'steps'  # the module of an integrator
START = 'start'  # of a rollout: onto the constraints
# Functions whose machine code is made with the robot's, by kernel: calls on plain arrays of one
# state go straight to it.
DIRECT = {row.kernel: row.name for row in FUNCTIONS.values() if row.compiled == AT_START}
# Kernels that solve for constraint rows, of those that have code in single precision.
SOLVES_ROWS = {
    'forward_dynamics',
    'consistent_velocity',
    'consistent_acceleration',
    'constrained_effort',
    'reference_effort',
}
IN_SINGLE = DIRECT.keys() | SOLVES_ROWS
_SOURCES = (
    'algebra',
    'algorithms',
    'compiler',
    'constraints',
    'dynamics',
    'formulations',
    'robot',
    'simulation',
)
Kernels = Mapping[str, CachedKernel]
Progress = Callable[[str, int, int], None]
# Bounds on a graph of about 25,000 operations; see doc/kernels.md. Forward dynamics of a chain has
# some 80 for each coupled pair of speeds (nonzeros in half of M; a chain of 24 has 300), C of (47)
# up to 25 for each squared number of speeds that move a body.
MOST_COUPLED_PAIRS = 300
# Loops solve free trees as fast from about 14 joints on, and are compiled in a second.
MOST_FREE_PAIRS = 100
MOST_SQUARED_DEPTHS = 1000


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody about progress."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """What machine code is made of."""

    robot: Robot
    constraints: ConstraintSet
    plan: RowPlan  # How the rows are treated
    frames: tuple[str, ...]  # Links of kinematics
    payloads: tuple[str, ...]  # Links that may carry a payload
    use_cache: bool  # Whether code is kept on disk
    precision: str = 'float64'
    derivatives: bool = False
    methods: bool = False  # Whether there are terms of all methods of forward dynamics
    law: Law | None = None  # Of the time steps

    @cached_property
    def by_loops(self) -> bool:
        """Return whether the kernels are loops over bodies."""
        whole_graphs = self.derivatives or self.methods or self.precision == 'float32'
        return as_loops(self.robot, self.constraints, whole_graphs)

    @property
    def law_content(self) -> str | None:
        """Return what code of time steps holds of the law."""
        return None if self.law is None else self.law.content

    def key(self, *choices: Any) -> tuple[str | None, str]:
        """Return the key in the cache, None where there is none, and why."""
        if not self.use_cache:
            return None, 'not asked for'
        robot = self.robot.with_gravity(np.zeros(3))  # set when the code runs
        parts = robot, self.constraints.constraints, self.plan, self.frames, self.payloads
        try:
            return fingerprint(*parts, self.precision, *choices), ''
        except NotFingerprintableError as error:
            return None, f'not usable: {error}'

    def cached(
        self, choices: Sequence[Any], make: Callable[[], Kernels]
    ) -> tuple[Kernels, str, str]:
        """Return kernels, from the cache where they are sound; 'cache' or 'compiled'; a note."""
        key, note = self.key(*choices)
        if key is not None:
            kernels, note = load_kernels(cache_folder(), key)
            if kernels is not None:
                return kernels, 'cache', note
        if only_cached.get():
            raise NotCachedError(f'the machine code of this robot is not in the cache: {note}')
        built = make()
        if key is not None:
            note += ', ' + store_kernels(cache_folder(), key, built)
        return built, 'compiled', note

    def cached_kernel(
        self, name: str, make: Callable[[], CachedKernel], *choices: Any
    ) -> CachedKernel:
        """Return one kernel, from the cache where it is sound."""
        return self.cached((name, *choices), lambda: {name: make()})[0][name]

    @property
    def rows_are_certain(self) -> bool:
        """Return whether no row repeats others, at any state."""
        return self.plan.certain and not self.plan.repeated

    def check_steps_in_single(self, integrator: str, timed: bool) -> None:
        """Check that accelerations of steps may be in single precision."""
        if self.precision != 'float32':
            raise InvalidInputError("precision='float32' needs kd.compile(precision='float32')")
        if integrator != 'rk4':
            raise InvalidInputError(
                f"precision='float32' needs integrator 'rk4', whose speeds stay in double, got "
                f'{integrator!r}'
            )
        if timed or not self.rows_are_certain:
            raise InvalidInputError(
                "precision='float32' is not for constraint rows that repeat others, may drop or "
                'depend on the time: they stay in double'
            )


def step_name(integrator: str, projection: bool) -> str:
    """Return the name of a step's kernel."""
    return f'step_{integrator}_projected' if projection else f'step_{integrator}'


def one_step(name: str) -> str:
    """Return the name of the function of one step."""
    return f'{name}_one'


def too_large(robot: Robot, constraints: Sequence[Constraint] = ()) -> bool:
    """Return whether a robot's solves are too large for straight-line code."""
    rows = sum(len(one.labels) for one in constraints)
    return _coupled_pairs(robot) > MOST_COUPLED_PAIRS or rows > MOST_ROWS


def not_compiled(
    robot: Robot, constraints: Sequence[Constraint], methods: bool
) -> tuple[str, ...]:
    """Return the functions that are straight-line code only: of larger robots they are numpy."""
    if not too_large(robot, constraints):
        return ()
    rows = [x.name for x in FUNCTIONS.values() if x.compiled == ON_DEMAND and x.text]
    limited = 'constrained_inverse_dynamics', 'limited_inverse_dynamics'
    others = *limited, 'frame_effort', 'wrench_effort', 'switched'
    names = ('forward_dynamics', *rows, 'inverse_dynamics(external_wrenches=)', *others)
    terms = [f'forward_dynamics(method={x!r})' for x in ('gibbs_appell', 'lagrange')]
    return (*names, *terms) if methods else names


def as_loops(robot: Robot, constraints: Sequence[Constraint], whole_graphs: bool) -> bool:
    """Return whether a robot's kernels are loops over bodies."""
    if whole_graphs or not solved_by_loops(robot, constraints):
        return too_large(robot, constraints)
    return _coupled_pairs(robot) > min(MOST_COUPLED_PAIRS, MOST_FREE_PAIRS)


def _coupled_pairs(robot: Robot) -> int:
    """Return the number of nonzeros in half of M."""
    return sum(
        (index.v.stop - index.v.start) * depth
        for index, depth in zip(robot.indices, _depths(robot), strict=True)
    )


def solved_by_loops(robot: Robot, constraints: Sequence[Constraint]) -> bool:
    """Return whether articulated bodies solve a robot: each joint moves one body, and freely."""
    return not constraints and all(body.mimic is None for body in robot.bodies)


def coriolis_too_large(robot: Robot) -> bool:
    """Return whether C of (47) is too large for straight-line code."""
    return sum(depth**2 for depth in _depths(robot)) > MOST_SQUARED_DEPTHS


def _depths(robot: Robot) -> list[int]:
    """Return how many speeds move each body."""
    speeds = [index.v.stop - index.v.start for index in robot.indices]
    depths: list[int] = []
    for body, parent in enumerate(robot.parents):
        depths.append(speeds[body] + (0 if parent == WORLD else depths[parent]))
    return depths


def fingerprint(robot: Robot, constraints: Sequence[Constraint], *more: Any) -> str:
    """Return a hash of everything that the machine code of a robot depends on."""
    digest = hashlib.sha256()
    environment = (
        platform.python_implementation(),
        OBJECT_HEADER,
        tuple.__basicsize__,
        np.__version__,
        *map(_version, ('casadi', 'llvmlite')),
        processor(),
    )
    for part in (environment, robot, tuple(constraints), more):
        add_content(digest, part)
    for path in source_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as error:
        remedy = "pip install 'kane_dynamics[compile]'"
        raise MissingPackageError('machine code', package, remedy) from error


def source_files() -> list[Path]:
    """Return the files whose code the graphs come from."""
    root = Path(__file__).parent.parent
    return sorted(path for folder in _SOURCES for path in (root / folder).rglob('*.py'))
