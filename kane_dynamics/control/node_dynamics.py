# SPDX-License-Identifier: Apache-2.0
"""The engine that the nodes call: the reference, or the one compiled for the robot."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algorithms.projection import project_reference
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw
from kane_dynamics.algorithms.wrench_law import WrenchLaw
from kane_dynamics.bases.motion_rows import SMALL
from kane_dynamics.compiler.cache import NotCachedError, only_cached
from kane_dynamics.control.motor_friction import MotorFriction
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.typing import Floats, Indices

_MASSLESS = 1e-9  # part of the largest inertia: wheels without any are moved first
_REPEATED = 1e-6  # relative singular value of rows that repeat others, at angles that agree


@dataclass(frozen=True)
class CompileOptions:
    """What a node asks of machine code besides the functions of the robot."""

    aims: bool = False  # Efforts at reference speeds
    frame: str = ''  # Of the law in task space
    axes: str = ''  # Of the wrench of this frame, where it pushes
    integrator: str = ''  # Of time steps


class Dynamics:
    """The engine of one model: reference algorithms, until there are compiled ones."""

    def __init__(self, model: RobotModel, options: CompileOptions = CompileOptions()) -> None:
        self.model, self.options = model, options
        self.engine: kd.Dynamics = kd.dynamics(model.robot, model.constraints)
        self.compiled = False
        self._carried: dict[str, tuple[float, Floats, Floats]] = {}
        self._gravity: Floats | None = None
        self.friction = MotorFriction.of(model, ())

    def in_words(self) -> dict[str, object]:
        """Return what the diagnostics say of compiled algorithms."""
        engine = self.engine
        numpy = {'not compiled': ', '.join(engine.not_compiled)} if engine.not_compiled else {}
        return {'dynamics': 'compiled', **numpy, 'states by the reference': engine.fallback_count}

    def carry(self, frame: str, mass: float, com: Floats, inertia: Floats) -> None:
        """Let a link carry a payload, from the next call on; as `kane_dynamics.Dynamics`."""
        self.engine.set_payload(frame, mass, com, inertia)
        self._carried[frame] = mass, com, inertia

    def set_gravity(self, vector: Floats) -> None:
        """Set the gravity acceleration, from the next call on; as `kane_dynamics.Dynamics`."""
        self.engine.set_gravity(vector)
        self._gravity = vector

    def compile(self, **how: Any) -> 'kd.CompiledDynamics':
        """Compile, or load from the cache, and use it; options as of `kane_dynamics.compile`."""
        fast = self._made(**how)
        self.use(fast)
        return fast

    def find(self) -> 'kd.CompiledDynamics | None':
        """Return the compiled algorithms from the cache, or None; `use` puts them to work."""
        token = only_cached.set(True)
        try:
            return self._made()
        except NotCachedError:
            return None
        finally:
            only_cached.reset(token)

    def use(self, fast: 'kd.CompiledDynamics') -> None:
        """Go on with compiled algorithms, from the next call on, under the same loads."""
        for frame, payload in self._carried.items():
            fast.set_payload(frame, *payload)
        if self._gravity is not None:
            fast.set_gravity(self._gravity)
        self.engine, self.compiled = fast, True

    def load(self) -> bool:
        """Use the compiled algorithms if they are in the cache; return whether they were."""
        fast = self.find()
        if fast is not None:
            self.use(fast)
        return fast is not None

    def _made(self, **how: Any) -> 'kd.CompiledDynamics':
        """Return compiled algorithms, with all that the nodes call."""
        model, options = self.model, self.options
        fast = kd.compile(model.robot, model.constraints, payloads=model.payloads, **how)
        named = model.actuated, known_speeds(model, ())
        fast.prepare_efforts(*named)
        if options.axes:
            own_axes = options.axes == 'frame'
            fast.prepare_frame(WrenchLaw(options.frame, tuple(model.motors), own_axes))
        elif options.frame:
            fast.prepare_frame(frame_law(model, options.frame, options.aims))
        elif options.aims:
            fast.prepare_efforts(*named, reference=True)
        if options.integrator:
            fast.engine(options.integrator)
        if options.integrator or model.drives:  # joints at their limits and drives ask for batches
            speeds = np.zeros((2, model.robot.nv))
            fast.acceleration(np.tile(model.robot.neutral(), (2, 1)), speeds, speeds)
        return fast


def known_speeds(model: RobotModel, named: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the speeds that are given, where the others follow from the constraints."""
    if not model.constraints or model.overactuated:
        return None
    return tuple(
        name for name in model.robot.velocity_names if name not in BASE_NAMES or name in named
    )


def frame_law(model: RobotModel, frame: str, passive: bool) -> TaskSpaceLaw:
    """Return the law by which the motors of a model let a frame follow."""
    names = model.robot.velocity_names
    held = tuple(n for n in names if n not in model.motors) if model.drives else ()
    return TaskSpaceLaw(frame, model.actuated, known_speeds(model, ()), held, passive)


def rolling_motion(dynamics: Dynamics, q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return speeds and accelerations of a base that has more motors than freedoms."""
    model, engine = dynamics.model, dynamics.engine
    passive = model.base.passive if model.base is not None else ()
    free = model.v_index((*BASE_NAMES, *passive))
    inertia = np.diagonal(engine.mass_matrix(q))
    lightness = 1.0 / np.sqrt(np.maximum(inertia, _MASSLESS * inertia.max()))
    if model.base is not None:  # these agree already
        lightness[model.v_index(model.base.centred)] = 0.0

    def onto(A: Floats, b: Floats, x: Floats) -> Floats:
        whole = x.copy()
        whole[free] += np.linalg.lstsq(A[:, free], b - A @ x, rcond=SMALL)[0]
        missing = b - A @ whole
        return whole + lightness * np.linalg.lstsq(A * lightness, missing, rcond=_REPEATED)[0]

    rows = engine.constraint_rows(q, v)
    v = onto(rows.matrix, rows.velocity, v)
    rows = engine.constraint_rows(q, v)
    return v, onto(rows.matrix, rows.acceleration, a)


def consistent_reference(
    dynamics: Dynamics, q: Floats, v: Floats, v_ref: Floats, a: Floats, counted: Indices
) -> tuple[Floats, Floats]:
    """Return reference speeds of a base with redundant motors, on the rows, and their rate."""
    engine = dynamics.engine
    turning = engine.constraints.turning_rate(q, v, np.eye(len(v)), 0.0)
    rows = engine.constraint_rows(q, v)
    return project_reference(rows, np.asarray(turning.full()), v, v_ref, a, counted)


def driven_motion(
    dynamics: Dynamics, q: Floats, v: Floats, tau: Floats, acceleration: Floats
) -> kd.Motion:
    r"""
    Return the motion of a robot whose drives give its base an acceleration.

    Accelerations are affine in the efforts of the drives, :math:`a = a_0 + G \tau_d`; those of
    least norm bring the base nearest to what it does.
    """
    model, engine = dynamics.model, dynamics.engine
    drives = model.v_index(model.drives)
    trials = np.tile(tau, (len(drives) + 1, 1))
    trials[:, drives] = np.eye(len(drives) + 1)[:, 1:]
    indices, speeds = (np.tile(x, (len(trials), 1)) for x in (q, v))
    caused = np.asarray(engine.acceleration(indices, speeds, trials))[:, :3]
    effect = (caused[1:] - caused[0]).T
    values = trials[0]
    values[drives] = np.linalg.lstsq(effect, acceleration - caused[0], rcond=None)[0]
    return engine.forward_dynamics(q, v, values)
