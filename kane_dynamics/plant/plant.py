# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: effort commands, integer time, noise of its sensors; no rclpy here."""

from typing import Any, NamedTuple

import numpy as np

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.plant.velocity_drives import NANO, VelocityDrives
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.simulation.drives_and_stops import StoppedEngine
from kane_dynamics.typing import Floats, Indices


class Noise:
    """Normal noise that is a function of the seed and of the step."""

    def __init__(self, parameters: SimulatorParameters) -> None:
        p, self._seed = parameters, parameters.noise_seed
        self._joints = np.array([[p.noise_position], [p.noise_velocity], [p.noise_effort]])
        self._base = np.array([p.noise_pose, p.noise_twist])

    def on_joints(self, step: int, state: Floats) -> Floats:
        """Return positions, velocities and efforts as measured at a step, shape (3, n)."""
        return self._noisy(state, self._joints, (step, 0))

    def on_odometry(self, step: int, state: Floats) -> Floats:
        """Return pose and twist (x, y, yaw) of the base as measured at a step, shape (2, 3)."""
        return self._noisy(state, self._base, (step, 1))

    def _noisy(self, state: Floats, deviations: Floats, draw: tuple[int, int]) -> Floats:
        if not deviations.any():
            return state
        draws = np.random.default_rng((self._seed, *draw))
        return state + deviations * draws.standard_normal(state.shape)


NOBODY = np.zeros(0, dtype=np.intp)


class Readings(NamedTuple):
    """What a plant's constraints do at a state."""

    labels: tuple[str, ...]  # Rows that hold
    multipliers: Floats  # shape (k,): Forces, A v - b0 and Phi (0 for a nonholonomic row)
    velocity_violation: Floats  # shape (k,): Forces, A v - b0 and Phi (0 for a nonholonomic row)
    position_violation: Floats  # shape (k,): Forces, A v - b0 and Phi (0 for a nonholonomic row)


class Plant:
    """
    A robot in simulated time that runs from one publication to the next.

    With the parameter `brakes` its motors are held where they are, at once and exactly, while
    their efforts are all zero, and all that has no drives under velocity commands with them.
    """

    drives: VelocityDrives | None
    simulation: Any  # one of kane_dynamics, with or without events

    def __init__(
        self, dynamics: Dynamics, parameters: SimulatorParameters, initial_positions: Floats
    ) -> None:
        self.model = model = dynamics.model
        robot = model.robot
        self._dynamics, self._parameters = dynamics, parameters
        unlimited = np.full(robot.nv, np.inf)
        self._limit = robot.effort_limit if parameters.enforce_command_limits else unlimited
        self.clamped = 0
        self._step_ns = round(parameters.step_size * NANO)
        self.steps_per_period = max(
            1, round(1.0 / (parameters.joint_state_rate * parameters.step_size))
        )
        self.periods_per_odom = max(
            1, round(NANO / (parameters.odom_rate * self.steps_per_period * self._step_ns))
        )
        self._start = robot.neutral()
        self._start[model.q_index(model.joints)] = initial_positions
        if model.mobile:
            self._start[:3] = parameters.initial_pose
        self.drives = VelocityDrives(model, parameters) if model.drives else None
        self._light = model.v_index(parameters.gravity_compensated_joints)
        held = model.motors if model.drives else tuple(robot.velocity_names)
        self._held = model.v_index(held)
        self.simulation = self._new_simulation()
        self.reset()

    def reset(self) -> None:
        """Return to the initial state at rest, at time zero, without commands."""
        nv = self.model.robot.nv
        self.simulation.reset(self._start)
        self.steps = 0
        self.applied = np.zeros(nv)
        self._command = np.zeros(nv)
        self._commanded_at = np.zeros(nv, dtype=np.int64)
        self._pushes: dict[str, tuple[Floats, int]] = {}
        self._released = self._behind = False
        if self.drives is not None:
            self.drives.reset()

    def set_state(self, q: Floats, v: Floats) -> None:
        """Go on from another state; speeds are moved onto the constraints."""
        self._behind, speeds = False, np.array(v)
        if self.braked:
            speeds[self._held] = 0.0
        self.simulation.reset(q, speeds, self.time / NANO)

    @property
    def braked(self) -> bool:
        """Return whether the brakes are closed."""
        return self._parameters.brakes and not (self._released or self._command.any())

    def open_brakes(self) -> None:
        """Open the brakes until efforts have come and ended, or until the reset."""
        self._released = True

    def push(self, link: str, wrench: Floats, duration: float) -> None:
        """Let a wrench act on a link from now on, in place of the one before."""
        self._pushes.pop(link, None)
        if wrench.any():
            self._pushes[link] = wrench, self.time + round(duration * NANO)

    @property
    def pushed(self) -> tuple[str, ...]:
        """Return the links that wrenches act on."""
        return tuple(self._pushes)

    def readings(self) -> Readings:
        """Return the rows that hold now and their forces, 0 where brakes carry the robot."""
        motion = self.simulation.motion
        forces = (not self.braked) * motion.multipliers
        violations = motion.velocity_violation, motion.position_violation
        return Readings(self.simulation.labels, forces, *violations)

    def _new_simulation(self) -> Any:
        p, model, self._made_of = self._parameters, self.model, self._dynamics.engine
        engine = self._made_of.engine(p.integrator)
        self._stops = StoppedEngine(engine, model.robot) if p.joint_stops else None
        engine = self._stops or engine
        return kd.Simulation(
            model.robot, model.constraints, p.step_size, p.integrator, engine=engine
        )

    def _speed_up(self) -> None:
        """Go on with the compiled dynamics, where there are some now."""
        if self._made_of is not self._dynamics.engine:
            before = self.simulation
            self.simulation = self._new_simulation()
            self.simulation.reset(before.q, before.v, before.time)

    @property
    def stop_hits(self) -> int:
        """Return how often joints were stopped at their limits since the last change of engine."""
        return self._stops.hits if self._stops is not None else 0

    @property
    def time(self) -> int:
        """Return the simulated time [ns]."""
        return self.steps * self._step_ns

    @property
    def period(self) -> int:
        """Return the simulated time between two publications of joint_states [ns]."""
        return self.steps_per_period * self._step_ns

    @property
    def steps_to_state(self) -> int:
        """Return the number of steps to the next publication of joint_states."""
        return self.steps_per_period - self.steps % self.steps_per_period

    @property
    def odom_due(self) -> bool:
        """Return whether odometry is due at the present step."""
        return self.steps % (self.steps_per_period * self.periods_per_odom) == 0

    def command(self, index: Indices, effort: Floats) -> None:
        """Set the efforts at some places of v, from now until they time out [N m or N]."""
        limit = self._limit[index]
        over = np.abs(effort) > limit
        if over.any():
            self.clamped += int(np.count_nonzero(over))
            effort = np.clip(effort, -limit, limit)
        self._command[index] = effort
        self._released &= not self._command.any()
        self._commanded_at[index] = self.time

    def release(self, timeout: float) -> Indices:
        """Set efforts to zero that are older than `timeout` [s]; return their places in v."""
        late = self._commanded_at < self.time - timeout * NANO
        if not late.any():
            return NOBODY
        late &= self._command != 0.0
        self._command[late] = 0.0
        return np.flatnonzero(late)

    def release_all(self) -> None:
        """Set all efforts to zero."""
        self._command[:] = 0.0

    def advance(self, steps: int) -> None:
        """Integrate some steps at the present commands, or let time go by under brakes."""
        self._speed_up()
        self.applied = self._command.copy()
        if self.braked:
            self._stand(steps)
            return
        self._catch_up()
        self._integrate(steps)

    def _stand(self, steps: int) -> None:
        """Hold the motors for some steps; drives may move the base meanwhile."""
        q, drives = self.simulation.q, self.drives
        if drives is not None and (drives.commanded(self.time) or self.simulation.v.any()):
            self._integrate(steps)
            motors = self.model.q_index(self.model.motors)
            before, q = q, np.array(self.simulation.q)
            q[motors] = before[motors]
        else:
            self.steps += steps
            self._behind = True
        if self.simulation.v.any():
            self.set_state(q, self.simulation.v)

    def _catch_up(self) -> None:
        """Go on at the present time: the simulation stood while the brakes were closed."""
        if self._behind:
            self.set_state(self.simulation.q, self.simulation.v)

    def _integrate(self, steps: int) -> None:
        """Integrate some steps under all efforts."""
        done, always = 0, self.drives is not None or len(self._light) > 0
        while (self._pushes or always) and done < steps:  # these change from step to step
            self.simulation.step(self.applied + self._own_drives() + self._pushing())
            self.steps += 1
            done += 1
        self.simulation.step(self.applied, steps - done)
        self.steps += steps - done

    def _own_drives(self) -> Floats:
        """Return the efforts of drives that nobody commands efforts of, mid-step, shape (nv,)."""
        state, effort = self.simulation, np.zeros(self.model.robot.nv)
        q = kd.integrate(self.model.robot, state.q, state.v, 0.5 * self._step_ns / NANO)
        joints = np.union1d(self._light, self._held) if self.braked else self._light
        if len(joints):
            effort[joints] = self._dynamics.engine.gravity_force(q)[joints]
        if self.drives is not None:
            effort += self.drives.effort(q, self.time, self._step_ns)
        return effort

    def _pushing(self) -> Floats:
        """Return the efforts of the wrenches that act in the next step: J' w, shape (nv,)."""
        now, robot = self.time, self.model.robot
        self._pushes = {link: one for link, one in self._pushes.items() if one[1] > now}
        if not self._pushes:
            return np.zeros(robot.nv)
        kinematics = kd.forward_kinematics(robot, self.simulation.q)
        effort = np.zeros(robot.nv)
        for link, (wrench, _) in self._pushes.items():
            effort += kinematics.jacobian(link).T @ wrench
        return effort
