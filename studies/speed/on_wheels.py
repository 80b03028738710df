# SPDX-License-Identifier: Apache-2.0
"""
Robots on wheels: efforts of their motors, one state and many, and steps from Python.

TIAGo on two wheels, and a base on four steered ones with an arm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.frame_task import frame_place
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.control.governor import Governor
from kane_dynamics.control.task_space_tracking import FrameMotion, FrameTracking
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.robot.state import pose_numbers
from studies import machine, robots
from studies.speed.rows import RATE, TIME, Row
from studies.speed.timing import Contender, Effort, race

STATES = 100_000
STEP = 1e-5  # [s]; the wrist of TIAGo has damping that is too stiff for longer explicit ones
_NAME = 'TIAGo on its wheels (nv 15, 3 rows)'


def on_wheels_rows(effort: Effort) -> Iterator[Row]:
    """Yield constrained inverse dynamics beside inverse dynamics, a batch of it, and a step."""
    case = robots.tiago()
    fast = kd.compile(case.robot, case.constraints)
    motors = case.robot.velocity_names[3:]
    a = fast.consistent_acceleration(case.q, case.v, case.a)
    names = {'d': fast, 'q': case.q, 'v': case.v, 'a': a, 'motors': motors}
    statics = fast.consistent_acceleration(case.q, 0.0 * case.v, 0.0 * a)
    within = {**names, 'v': 0.0 * case.v, 'a': statics}
    every = case.robot.velocity_names  # driven at the base too, which wheels leave the rest to
    shared = fast.limited_inverse_dynamics(case.q, case.v, a, every).effort
    most = np.where(np.arange(len(a)) < 5, 0.5 * np.abs(shared), case.robot.effort_limit)
    most[:3] = np.inf
    beyond = {**names, 'motors': every, 'most': most}
    forces = fast.constrained_inverse_dynamics(case.q, case.v, a, motors).multipliers[1:]
    pairs = zip(fast.labels[1:], np.abs(forces).tolist(), strict=True)
    tyres = [kd.FrictionCone([label], 0.5, 1.8 * force + 1e-3) for label, force in pairs]
    slipping = {**names, 'tyres': tyres, 'alike': np.ones(len(a))}
    nearest = 'd.limited_inverse_dynamics(q, v, a, motors, cones=tyres, deviation=alike)'
    simulation = fast_simulation(fast)
    simulation.reset(case.q, case.v)
    one = 'd.constrained_inverse_dynamics(q, v, a, motors)'
    free = 'd.inverse_dynamics(q, v, a)'
    times = race(
        [
            Contender('constrained', one, names),
            Contender('free', free, names),
            Contender('step', 's.step(tau)', {'s': simulation, 'tau': np.zeros(len(a))}),
            Contender('steps', 's.step(tau, 100)', {'s': simulation, 'tau': np.zeros(len(a))}),
            Contender('motion', 'd.forward_dynamics(q, v, a)', names),
            Contender('forces', 'd.forward_dynamics(q, v, a).multipliers', names),
            Contender('limited', 'd.limited_inverse_dynamics(q, v, a, motors)', within),
            Contender('bound', 'd.limited_inverse_dynamics(q, v, a, motors, limits=most)', beyond),
            Contender('tyres', nearest, slipping),
        ],
        effort,
    )
    us = {name: 1e6 * timing.median for name, timing in times.items()}
    work = f'constrained inverse dynamics, {_NAME}, {len(motors)} motors'
    yield Row(work, TIME, us['constrained'], bound=3.0)
    note = 'target: at most 4 times as long'
    ours, peer = us['constrained'], 'inverse_dynamics of the same'
    yield Row(work, TIME, ours, peer, us['free'], least_ratio=0.25, note=note)
    yield _batch(fast, names, effort)
    work = f'forward_dynamics, {_NAME}'
    yield Row(f'{work}: accelerations read', TIME, us['motion'], bound=3.0)
    yield Row(f'{work}: all of it read', TIME, us['forces'])
    work = f'limited_inverse_dynamics, {_NAME}'
    yield Row(f'{work}: within limits', TIME, us['limited'], bound=100.0)
    yield Row(f'{work}: limits bind', TIME, us['bound'], bound=100.0)
    yield Row(f'{work}: tyres slip, the nearest motion', TIME, us['tyres'], bound=100.0)
    step = f'Simulation.step from Python, RK4, {_NAME}'
    peer, inside = 'a step inside step(tau, 100)', us['steps'] / 100
    yield Row(step, TIME, us['step'], bound=5.0)
    yield Row(step, TIME, us['step'], peer, inside, note='the other is machine code alone')


def frame_law_rows(effort: Effort) -> Iterator[Row]:
    """Yield one period of the laws of a hand: wrench, impedance and motion axes, and tracking."""
    case, hand = robots.tiago(), 'arm_7_link'
    robot, fast = case.robot, kd.compile(case.robot, case.constraints)
    motors, none = robot.velocity_names[3:], np.full(robot.nv, np.inf)
    gains, posture = ([100.0] * 6, [20.0] * 6), dict.fromkeys(motors, 0.1)
    near = pose_numbers('pose', frame_place(fast, hand, case.q)) + np.eye(7)[0] * 0.01
    state = {'q': case.q, 'v': case.v, 'target': WrenchTarget(near, wrench=[0, 0, 0, 5.0, 0, 0])}
    modes = {'impedance': ['impedance'] * 6, 'mixed': ['motion'] * 3 + ['wrench'] * 3}
    laws = {
        name: WrenchControl(fast, hand, motors, axes, *gains, posture, period=0.004, limits=none)
        for name, axes in modes.items()
    }
    limited = dict.fromkeys(('effort_limit', 'velocity_limit'), none)
    tracking = FrameTracking(fast, hand, motors, *gains, robot.neutral(), **limited)
    before = fast.fallback_count
    times = race(
        [
            *(
                Contender(name, 'law.effort(q, v, target)', {**state, 'law': law})
                for name, law in laws.items()
            ),
            Contender(
                'tracking',
                'law.effort(q, v, motion)',
                {**state, 'law': tracking, 'motion': FrameMotion(near)},
            ),
        ],
        effort,
    )
    us = {name: 1e6 * timing.median for name, timing in times.items()}
    note = f'{fast.fallback_count - before} states went to the reference'
    work = f'one period of WrenchControl, {_NAME}'
    yield Row(f'{work}: six impedance axes', TIME, us['impedance'], bound=60.0, note=note)
    yield Row(f'{work}: motion and wrench axes', TIME, us['mixed'], bound=60.0)
    yield Row(f'one period of FrameTracking, {_NAME}', TIME, us['tracking'], bound=60.0)


def swerve_rows(effort: Effort) -> Iterator[Row]:
    """Yield constrained inverse dynamics of a base on four steered wheels with an arm."""
    base = robots.swerve_base()
    case = robots.in_a_curve(base)
    fast = kd.compile(case.robot, case.constraints)
    motors = case.robot.velocity_names[3:]
    names = {'d': fast, 'q': case.q, 'v': case.v, 'a': case.a, 'motors': motors}
    one = 'd.constrained_inverse_dynamics(q, v, a, motors)'
    free = 'd.inverse_dynamics(q, v, a)'
    before = fast.fallback_count
    times = race([Contender('constrained', one, names), Contender('free', free, names)], effort)
    us = {name: 1e6 * timing.median for name, timing in times.items()}
    work = 'constrained inverse dynamics, four steered wheels and 6 joints (nv 17, 8 rows)'
    note = f'{fast.fallback_count - before} states went to the reference'
    yield Row(work, TIME, us['constrained'], bound=5.0, note=note)
    yield Row(work, TIME, us['constrained'], 'inverse_dynamics of the same', us['free'])
    yield from _measured(base, fast, names, effort)
    yield from _on_the_ground(base, fast, names, effort)


def _on_the_ground(
    base: kd.bases.WheeledBase, fast: kd.CompiledDynamics, names: dict[str, object], effort: Effort
) -> Iterator[Row]:
    """Yield forces of the wheels of a base, and a command that its governor lets through."""
    q, v, a = (np.array(names[name], dtype=float) for name in 'qva')
    a, contacts = (
        fast.consistent_acceleration(q, v, a),
        kd.base_ground_contacts(base, friction=0.6),
    )
    drive = DriveResponse(0.1, acceleration_limit=(4.0, 4.0, 8.0))
    governor = Governor(contacts, drive, [*base.steering, *base.driven])
    chosen = {
        **names,
        'q': q,
        'v': v,
        'a': a,
        'f': picture_of,
        'g': governor,
        'still': np.zeros(3),
    }
    chosen |= {'c': contacts.with_dynamics(fast), 'r': contacts, 'goal': np.array([1.0, 0.2, 0.5])}
    picture = 'f({}, q, v, a, motors)'
    each = [Contender(x, picture.format(x), chosen) for x in 'cr']
    each.append(Contender('g', 'g.admit(q, v, a, still, still, goal)', chosen))
    us = {name: 1e6 * timing.median for name, timing in race(each, effort).items()}
    work = 'wheel forces, friction use and tip-over margins of this base'
    yield Row(work, TIME, us['c'], bound=100.0)
    yield Row(work, TIME, us['c'], 'by the reference', us['r'])
    yield Row('a command that the governor of this base limits', TIME, us['g'], bound=150.0)


def _measured(
    base: kd.bases.WheeledBase, fast: kd.CompiledDynamics, names: dict[str, object], effort: Effort
) -> Iterator[Row]:
    """Yield the same where angles are measured with noise: 1e-3 rad, and 1e-2 rad/s."""
    rng = np.random.default_rng(3)
    q, v, a = (np.array(names[name], dtype=float) for name in 'qva')
    for joint in base.steering:
        q[base.robot.coordinate_index(joint)] += 1e-3 * rng.normal()
        v[base.robot.velocity_index(joint)] += 1e-2 * rng.normal()
    agreed = base.consistent_steering(q, v)
    twist = base.steer_towards(v[:3], agreed.q, 1e-12).twist  # what these angles allow
    steering = [base.robot.velocity_index(joint) for joint in base.steering]
    rates = base.wheel_rates(twist, agreed.q, agreed.v[steering])
    v = agreed.v.copy()
    v[:3] = twist
    for joint, rate in rates.by_joint.items():
        v[base.robot.velocity_index(joint)] = rate
    a = fast.consistent_acceleration(agreed.q, v, a)
    chosen = {**names, 'q': agreed.q, 'v': v, 'a': a}
    before = fast.fallback_count
    one = 'd.constrained_inverse_dynamics(q, v, a, motors)'
    find = Contender('find', 'b.consistent_steering(q, v)', {'b': base, 'q': q, 'v': agreed.v})
    times = race([Contender('constrained', one, chosen), find], effort)
    us = {name: 1e6 * timing.median for name, timing in times.items()}
    work = 'the same at the steering angles that agree, next to measured ones with 1 mrad of noise'
    note = f'{fast.fallback_count - before} states went to the reference'
    yield Row(work, TIME, us['constrained'], bound=5.0, note=note)
    yield Row('consistent_steering of this base, to find them', TIME, us['find'], bound=15.0)


def fast_simulation(fast: kd.CompiledDynamics) -> kd.Simulation:
    """Return a simulation of a compiled robot."""
    robot, rows, engine = fast.robot, fast.constraints, fast.engine('rk4')
    return kd.Simulation(robot, rows, STEP, 'rk4', engine=engine)


def _batch(fast: kd.CompiledDynamics, names: dict[str, object], effort: Effort) -> Row:
    """Return the rate of constrained inverse dynamics of many states."""
    rng = np.random.default_rng(5)
    q = np.tile(np.asarray(names['q']), (STATES, 1))
    q[:, 3:] += rng.uniform(-0.3, 0.3, (STATES, q.shape[1] - 3))
    v = fast.consistent_velocity(q, rng.uniform(-1.0, 1.0, (STATES, fast.robot.nv)))
    a = fast.consistent_acceleration(q, v, rng.uniform(-1.0, 1.0, v.shape))
    before = fast.fallback_count
    statement = 'd.constrained_inverse_dynamics(q, v, a, motors)'
    batch = Contender('batch', statement, {**names, 'q': q, 'v': v, 'a': a})
    rate = STATES / race([batch], effort)['batch'].median
    work = f'batch of {STATES:,} constrained inverse dynamics, {_NAME}, {machine.cores()} cores'
    note = f'{fast.fallback_count - before} states went to the reference'
    return Row(work, RATE, rate, bound=2e6, note=note)
