# SPDX-License-Identifier: Apache-2.0
"""Motions of many states at once (``kd.rollout``)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.dynamics.table import PRECISIONS
from kane_dynamics.exceptions import DivergedError, InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.checks import as_choice, as_function, as_positive
from kane_dynamics.rollouts.gpu import Gpu, on_host, rollouts_on_card
from kane_dynamics.rollouts.inputs import Inputs, inputs
from kane_dynamics.rollouts.steps import Chunk, ReferenceSteps, Rollouts, Schedule, State, schedule
from kane_dynamics.simulation.motions import ManyMotions
from kane_dynamics.simulation.step_checks import STABLE, check_damping
from kane_dynamics.typing import ArrayLike, Bools, Floats, NDArray

Reduce = Callable[[Floats, Floats, Floats], ArrayLike]
Progress = Callable[[int, int], Any]
_FEWEST = 64  # rollouts of a chunk, whatever the memory
_MOST_STEPS = 2**22  # of all rollouts of a chunk: progress is told every few seconds


def rollout(
    dynamics: Dynamics | Gpu,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    *,
    effort: ArrayLike | None = None,
    step: float = 0.001,
    integrator: str = 'rk4',
    projection: bool = True,
    gains: ArrayLike | None = None,
    gravity: ArrayLike | None = None,
    payloads: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    every: int | None = None,
    reduce: Reduce | None = None,
    memory: float = 256e6,
    precision: str = 'float64',
    progress: Progress | None = None,
) -> Rollouts:
    """
    Return the motions from many states over `duration`.

    Every argument that may have a row for each rollout may have one for all. The numbers of a
    rollout do not depend on the others, on the chunks, nor on the number of cores.

    Parameters
    ----------
    dynamics : Dynamics
        ``kd.compile(...)``, or ``kd.dynamics(...)``, which steps state by state. With
        ``kd.compile(..., device='cuda')`` states that are returned or reduced are arrays of the
        card, in its precision, all rollouts at once.
    q, v : array_like, shapes (nq,) or (B, nq), (nv,) or (B, nv)
        States at t = 0; moved onto the constraints first, with projection. A rollout whose start
        is not finite is NaN.
    duration : float
        [s]; a whole number of steps.
    effort : array_like, shape (nv,), (B, nv) or (B, K, nv), optional
        Constant, or K pieces of equal length, each held; zero where left out. The law of
        ``kd.compile(..., effort=law)`` adds to it.
    step : float
        Length of a step [s].
    integrator : str
        'semi_implicit', 'rk4' or 'midpoint', see `simulation.integrators`.
    projection : bool
        Whether drift off the constraints is projected away after each step.
    gains : array_like, shape (P,) or (B, P), optional
        Of the law; those it was compiled with where left out.
    gravity : array_like, shape (3,) or (B, 3), optional
        Acceleration in world axes [m/s^2]; that of the dynamics where left out.
    payloads : mapping of str to mapping, optional
        What frames carry instead of what they carry at present: 'mass' (B,) [kg], 'center_of_mass'
        (B, 3) [m] and 'inertia' (B, 3, 3) about it [kg m^2], in the frame's axes. Machine code
        knows the frames of ``kd.compile(..., payloads=...)``.
    every : int, optional
        Keep the state of each so many steps, the first included; the last alone where left out.
    reduce : callable, optional
        reduce(times, q, v) -> array (b, ...), of the states of b rollouts at these times, shapes
        (S,), (b, S, nq), (b, S, nv): the states of every step, or of each `every`-th. They are not
        kept then.
    memory : float
        What the states that `reduce` gets at once may take [bytes].
    precision : str
        'float32': accelerations in single precision, twice as many states at once; states, times
        and projections stay in double. Of robots compiled so, with 'rk4'. On a card all is in
        the precision of the robot.
    progress : callable, optional
        progress(done, total), steps of all rollouts.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, numbers of rows differ, a number is not finite, a quaternion not unit,
        or the duration no whole number of steps and of pieces; if no body has a mass and inertia
        of a payload; or if there is no such code for 'float32'.
    NameNotFoundError
        If a frame of a payload does not exist.
    DivergedError
        If damping is too stiff for the step, see `simulation.step_checks`. Rollouts that diverge
        later, or have no next step, end there: see `Rollouts.failures`.

    Examples
    --------
    >>> fast = kd.compile(kd.serial_chain(2))
    >>> motions = kd.rollout(fast, np.zeros((5, 2)), np.ones((5, 2)), 0.1, step=1e-2)
    >>> motions.q.shape
    (5, 2)

    """
    gpu = dynamics if isinstance(dynamics, Gpu) else None
    if gpu is not None:
        q, v, effort = (on_host(gpu, x) for x in (q, v, effort))
        dynamics = gpu.on_cpu
    dynamics = checked_dynamics(dynamics)
    if reduce is not None:
        as_function('reduce', reduce, 'times', 'q', 'v')
        every = 1 if every is None else every
    if progress is not None:
        as_function('progress', progress, 'done', 'total')
    plan = schedule(duration, step, every, integrator, projection)
    as_choice('precision', precision, PRECISIONS)
    values = inputs(dynamics, plan.count, q, v, effort, gains, gravity, payloads)
    room = as_positive('memory [bytes]', memory)
    _check_damping(dynamics, plan, values)
    if gpu is not None:
        return rollouts_on_card(gpu, plan, values, reduce, progress)
    code = dynamics.many_motions(plan.integrator, plan.projection, precision)
    return _Run(dynamics, plan, values, reduce, progress, code).result(room)


@dataclass(eq=False)
class _Run:
    """All chunks of one call."""

    dynamics: Dynamics
    plan: Schedule
    inputs: Inputs
    reduce: Reduce | None
    progress: Progress | None
    code: ManyMotions | None
    fallback_count: int = 0
    failures: dict[int, KaneDynamicsError] = field(default_factory=dict)

    def result(self, memory: float) -> Rollouts:
        """Return what all chunks give."""
        count, before = len(self.inputs), self.dynamics.fallback_count
        steps = np.zeros(count, dtype=np.int64)
        size = self._chunk_size(memory)
        kept = self._room(count) if self.reduce is None else None
        reduced = []
        for begin in range(0, max(count, 1), size):
            end = min(begin + size, count)
            if kept is None:
                local = self._room(end - begin)
            else:
                local = kept[0][begin:end], kept[1][begin:end]
            steps[begin:end] = self._run(begin, end, local)
            if self.reduce is not None:
                reduced.append(_reduced(self.reduce, self.plan.times, *local))
        indices: tuple[Floats | None, Floats | None] = (None, None)
        if kept is not None:
            indices = kept if self.plan.every else (kept[0][:, 0], kept[1][:, 0])
        return Rollouts(
            *indices,
            self.plan.times,
            np.concatenate(reduced) if reduced else None,
            steps,
            MappingProxyType(self.failures),
            self.dynamics.fallback_count - before + self.fallback_count,
        )

    def _room(self, rows: int) -> State:
        """Return arrays for the states of some rollouts."""
        robot, samples = self.dynamics.robot, self.plan.samples
        return np.empty((rows, samples, robot.nq)), np.empty((rows, samples, robot.nv))

    def _chunk_size(self, memory: float) -> int:
        robot = self.dynamics.robot
        states = 1 + (self.plan.samples if self.reduce is not None else 0)
        row = 8.0 * states * (robot.nq + robot.nv)
        most = min(memory / row, _MOST_STEPS / max(1, self.plan.count))
        return max(_FEWEST, int(most) // _FEWEST * _FEWEST)

    def _run(self, begin: int, end: int, kept: State) -> Floats:
        """Run some rollouts; return how many steps each took."""
        count, part = self.plan.count, self.inputs.part(begin, end)
        steps = ReferenceSteps(self.dynamics, self.plan, part, whole=self.code is None)
        chunk = Chunk(steps, self.plan, part, kept)

        def tell(done: int) -> None:
            if self.progress is not None:
                self.progress(begin * count + done, len(self.inputs) * count)

        if self.code is None:
            chunk.by_state(tell)
        else:
            self.fallback_count += chunk.at_once(self.code, tell)
        self.failures |= {begin + row: error for row, error in steps.failures.items()}
        tell((end - begin) * count)
        return chunk.done


def _reduced(reduce: Reduce, times: Floats, q: Floats, v: Floats) -> NDArray:
    """Return what the user makes of states."""
    results = np.asarray(reduce(times, q, v))
    if results.ndim == 0 or len(results) != len(q):
        raise InvalidInputError(
            f'reduce: need an array with {len(q)} rows, one for each rollout, got shape '
            f'{results.shape}'
        )
    return results


def _check_damping(dynamics: Dynamics, schedule: Schedule, inputs: Inputs) -> None:
    """Check that damping is not too stiff for an explicit integrator where rollouts start."""
    robot, limit = dynamics.robot, STABLE.get(schedule.integrator)
    if limit is None or not robot.damping.any() or not len(inputs):
        return
    starts = np.arange(1 if inputs.one_start else len(inputs))
    starts = starts[np.isfinite(inputs.q[starts]).all(axis=1)]
    if not inputs.payloads.keys() & dynamics.load().payloads.keys():
        starts = starts[_may_be_stiff(dynamics, inputs.q[starts], limit / schedule.step)]
    shared = inputs.one_start and inputs.loaded and len(starts) > 0
    rows = np.arange(len(inputs)) if shared else starts
    for row in rows.tolist():
        try:
            loaded = inputs.load(dynamics, row).robot
            how = schedule.integrator, inputs.q[row], 0.0, schedule.step
            check_damping(loaded, dynamics.constraints, *how)
        except DivergedError as error:
            error.args = (f'rollout {row}: {error}',)
            raise


def _may_be_stiff(dynamics: Dynamics, q: Floats, most: float) -> Bools:
    """Return where the largest rate of decay without constraints exceeds `most` [1/s], (B,)."""
    try:
        roots = np.linalg.cholesky(dynamics.mass_matrix(q))
    except np.linalg.LinAlgError:  # a body without mass
        return np.ones(len(q), dtype=bool)
    damped = np.linalg.solve(roots, np.diag(np.sqrt(dynamics.robot.damping))[None])
    # the sum of all rates is cheap, and mostly enough
    stiff: Bools = ~(np.square(damped).sum(axis=(1, 2)) <= most)
    squares = damped[stiff] @ damped[stiff].transpose(0, 2, 1)
    stiff[stiff] = ~(np.linalg.eigvalsh(squares)[:, -1] <= most)
    return stiff
