# SPDX-License-Identifier: Apache-2.0
"""From a robot to its compiled dynamics (``kd.compile``)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.kernel_loader import load_kernels
from kane_dynamics.compiler.law import EffortLaw, Law
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Progress, Recipe, silent, too_large
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics.table import PRECISIONS
from kane_dynamics.exceptions import InvalidInputError, PerformanceWarning
from kane_dynamics.robot.checks import as_choice, as_function, as_numbers, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_frames, checked_payload_frames
from kane_dynamics.simulation.reference import PassiveForce
from kane_dynamics.typing import ArrayLike

if TYPE_CHECKING:
    from kane_dynamics.compiler.cuda.robot import CudaDynamics

DEVICES = ('cpu', 'cuda')


@overload
def compile_robot(
    robot: Robot,
    constraints: Sequence[Constraint] = ...,
    *,
    frames: Sequence[str] | None = ...,
    payloads: Sequence[str] = ...,
    derivatives: bool = ...,
    methods: bool = ...,
    effort: EffortLaw | None = ...,
    gains: ArrayLike = ...,
    passive_force: PassiveForce | None = ...,
    precision: str = ...,
    device: Literal['cpu'] = ...,
    cache: bool = ...,
    progress: Progress = ...,
) -> CompiledDynamics: ...
@overload
def compile_robot(
    robot: Robot,
    constraints: Sequence[Constraint] = ...,
    *,
    frames: Sequence[str] | None = ...,
    payloads: Sequence[str] = ...,
    derivatives: bool = ...,
    methods: bool = ...,
    effort: EffortLaw | None = ...,
    gains: ArrayLike = ...,
    passive_force: PassiveForce | None = ...,
    precision: str = ...,
    device: Literal['cuda'],
    cache: bool = ...,
    progress: Progress = ...,
) -> CudaDynamics: ...
def compile_robot(
    robot: Robot,
    constraints: Sequence[Constraint] = (),
    *,
    frames: Sequence[str] | None = None,
    payloads: Sequence[str] = (),
    derivatives: bool = False,
    methods: bool = False,
    effort: EffortLaw | None = None,
    gains: ArrayLike = (),
    passive_force: PassiveForce | None = None,
    precision: str = 'float64',
    device: str = 'cpu',
    cache: bool = True,
    progress: Progress = silent,
) -> CompiledDynamics | CudaDynamics:
    """
    Return the dynamics of a robot as machine code for this processor, or for a graphics card.

    Batches of a function, and time steps of an integrator, are compiled when they are first asked
    for, and are in the cache from then on.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Rows of the forward dynamics and of the simulation.
    frames : sequence of str, optional
        Links of `CompiledDynamics.frame_poses`; all bodies where left out.
    payloads : sequence of str
        Frames that may carry a payload, see `CompiledDynamics.set_payload`.
    derivatives : bool
        Whether to compile the derivatives too.
    methods : bool
        Whether to compile what the methods of forward dynamics other than 'gauss' need too.
    effort : callable, optional
        effort(t, q, v) -> one effort for each speed, traced into the time steps, so that a closed
        loop runs in one compiled call; it adds to the efforts that a step is given. Written with
        operators and numpy functions of single entries. It is traced once; code on disk is that of
        a law with the same graph and the same numbers in it.
    gains : array_like, shape (P,)
        Numbers of the law that `kane_dynamics.rollout` may change from rollout to rollout; the law
        is then effort(t, q, v, gains), and these are its gains everywhere else.
    passive_force : callable, optional
        passive_force(t, q, v) -> one effort for each speed: springs, dampers and other forces of
        the state, traced as `effort` is, but taken at every stage of a time step, where `effort`
        and the efforts that a step is given are held. Only time steps contain it.
    precision : str
        'float32' compiles code in single precision beside that in double. Batches whose arrays
        with a row for each state are all float32 then run in it and give float32; what is one
        for all states is rounded. Single states, and all else, stay in double. States of such
        batches whose solve is too ill conditioned for single precision, or whose numbers are
        large, are computed in double and counted in `CompiledDynamics.double_precision_count`.
        For which functions and with which errors: doc/kernels.md.
    device : str
        'cuda': the robot on the present graphics card, see `CudaDynamics` and doc/gpu.md. All its
        arrays are of one precision; its kernels are compiled when they are first called.
    cache : bool
        Whether to keep the code on disk, in XDG_CACHE_HOME, ROS_HOME or ~/.cache.
    progress : callable
        progress(what, done, total), called while compiling.

    Raises
    ------
    NameNotFoundError
        If a frame does not exist.
    InvalidInputError
        If a frame for payloads comes twice or is part of the world, the effort law cannot be
        traced, there are gains without one, the precision is unknown, or the robot is too large
        for single precision.
    ConstraintError
        If a user's constraint function cannot be traced.
    DeviceError
        If there is no graphics card, or what it needs is not installed.

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> fast = kd.compile(robot)
    >>> q, v, tau = np.zeros(2), np.zeros(2), np.ones(2)
    >>> motion = kd.forward_dynamics(robot, q, v, tau)
    >>> np.allclose(fast.acceleration(q, v, tau), motion.acceleration)
    True

    """
    constraints = ConstraintSet.of(robot, constraints)
    names, loaded = checked_frames(robot, frames), checked_payload_frames(robot, payloads)
    law = _law(robot, effort, gains, passive_force)
    as_choice('precision', precision, PRECISIONS)
    as_choice('device', device, DEVICES)
    if too_large(robot, constraints) and precision == 'float32':
        raise InvalidInputError(
            f'this robot with {robot.nv} speeds and {len(constraints.labels)} rows is too large '
            "for precision='float32'"
        )
    what = robot, constraints, row_plan(constraints), names, loaded, cache
    if device == 'cuda':
        if methods:
            raise InvalidInputError("methods: on a card there is 'gauss' alone")
        # with all that traces, which code from the cache does without
        from kane_dynamics.compiler.cuda.device import CudaDevice
        from kane_dynamics.compiler.cuda.robot import CudaDynamics

        return CudaDynamics(Recipe(*what, precision, law=law), CudaDevice(), progress)
    recipe = Recipe(*what, precision, derivatives, methods, law)
    compiled = CompiledDynamics(Parameters(robot, loaded), load_kernels(recipe, progress))
    if compiled.not_compiled:
        warnings.warn(
            f"'{robot.name}' with {robot.nv} speeds and {len(compiled.labels)} rows is too large "
            f'for straight-line code: {", ".join(compiled.not_compiled)} are not compiled, but '
            'numpy',
            PerformanceWarning,
            stacklevel=2,
        )
    return compiled


def _law(
    robot: Robot, effort: EffortLaw | None, gains: ArrayLike, passive_force: PassiveForce | None
) -> Law | None:
    """Return the law with its gains, and with the passive force."""
    numbers = as_numbers('gains', gains)
    known = tuple(as_vector('gains', numbers, numbers.size).tolist())
    if effort is None and known:
        raise InvalidInputError(f'gains: there is no effort law that takes {len(known)} gains')
    if effort is None and passive_force is None:
        return None
    more, passive = ('gains',) if known else (), None
    if passive_force is not None:
        function = as_function('passive_force', passive_force, 't', 'q', 'v')
        passive = Law.of(robot, function, what='the passive force')
    if effort is None:
        return Law.of(robot, lambda t, q, v: np.zeros(robot.nv), passive=passive)
    return Law.of(robot, as_function('effort', effort, 't', 'q', 'v', *more), known, passive)
