# SPDX-License-Identifier: Apache-2.0
"""
How quickly and how well pushes and payloads are seen with the sensors of a real arm.

``python -m studies.observer [--runs 50] [--quick] [--output FOLDER]``: the 7-joint arm of Franka
(its URDF in example-robot-data) moves along sines in all joints, at 1 kHz.

Sensors: positions are rounded to the counts of an encoder with 4096 counts a turn on the motor,
behind gears of 100 (an assumption in the size of arms with harmonic drives: 15 urad); speeds are
differences of these over 20 ms, so that everything is known 10 ms late; efforts have white noise
of 0.1 N m. Pushes of 5 N m stand on one joint from one sample on. Payloads of 3 kg sit 8 cm
before the last link, off its axis; the motion takes 4 s.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from rich.progress import track

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import MomentumObserver
from kane_dynamics.analysis.payload import estimate_payload, smoothed
from kane_dynamics.typing import Floats
from studies import report, robots
from studies.report import Table

COUNT = 2.0 * np.pi / (4096 * 100)  # [rad]
NOISE = 0.1  # of efforts [N m]
STEP = 1e-3  # [s]
WINDOW = 20  # samples between the positions that make a speed
GAIN = 110.0  # [1/s]
PUSH, FOUND_AFTER, WITHIN = 5.0, 0.05, 0.05  # [N m], [s], part
BEFORE = 0.3  # [s] until the push
JOINTS = tuple(f'panda_joint{k}' for k in range(1, 8))
FINGERS = ('panda_finger_joint1', 'panda_finger_joint2')
MIDDLE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])  # [rad]
FRAME, MASS, COM = 'panda_link8', 3.0, np.array([0.03, -0.02, 0.08])
TENSOR = np.diag([0.006, 0.008, 0.005])  # [kg m^2]
LASTS = 4.0  # [s]
PIECE = 0.1  # of splines [s]


@dataclass(frozen=True)
class Motion:
    """What an arm does at each sample."""

    q: Floats
    v: Floats
    a: Floats


def panda() -> kd.Robot:
    """Return the arm with closed fingers."""
    return robots.read(robots.arm('panda').path, locked_joints=FINGERS)


def drawn(rng: np.random.Generator, duration: float) -> Motion:
    """Return random sines of all joints."""
    t = np.arange(round(duration / STEP)) * STEP
    size, rate = rng.uniform(0.2, 0.5, 7), rng.uniform(1.0, 3.0, 7)
    angle = np.multiply.outer(t, rate) + rng.uniform(0.0, 6.0, 7)
    q, v = MIDDLE + size * np.sin(angle), size * rate * np.cos(angle)
    return Motion(q, v, -size * rate**2 * np.sin(angle))


def measured(motion: Motion, tau: Floats, rng: np.random.Generator) -> tuple[Floats, ...]:
    """Return positions, speeds and efforts as sensors tell them, at the middle of the window."""
    counted = COUNT * np.round(motion.q / COUNT)
    speeds = (counted[WINDOW:] - counted[:-WINDOW]) / (WINDOW * STEP)
    middle = slice(WINDOW // 2, -(WINDOW // 2))
    return counted[middle], speeds, (tau + rng.normal(0.0, NOISE, tau.shape))[middle]


def error_of_push(dynamics: kd.Dynamics, joint: int, seed: int) -> tuple[float, float]:
    """Return the part that is missing 50 ms after a push, and the noise before it [N m]."""
    rng = np.random.default_rng(seed)
    motion = drawn(rng, BEFORE + FOUND_AFTER + STEP)
    pushed = np.arange(len(motion.q)) * STEP >= BEFORE
    external = np.zeros_like(motion.q)
    external[pushed, joint] = PUSH
    tau = dynamics.inverse_dynamics(motion.q, motion.v, motion.a) - external
    samples = zip(*measured(motion, tau, rng), strict=True)
    observer = MomentumObserver(dynamics, GAIN)
    seen = np.array([observer.update(*sample, STEP)[joint] for sample in samples])
    # the newest result belongs to the middle of its window, and is there at its end
    before = seen[100 : round(BEFORE / STEP) - WINDOW]
    return 1.0 - seen[-1] / PUSH, float(before.std())


def errors_of_payload(
    bare: kd.Dynamics, loaded: kd.Dynamics, seed: int
) -> tuple[float, float, float, float]:
    """Return errors of mass (part) and centre of mass [m], each with what the estimate says."""
    rng = np.random.default_rng(seed)
    motion = drawn(rng, LASTS)
    tau = loaded.inverse_dynamics(motion.q, motion.v, motion.a)
    q, _, efforts = measured(motion, tau, rng)
    t = np.arange(len(q)) * STEP
    _, *moves = smoothed(t, q, PIECE)
    found = estimate_payload(bare, FRAME, *moves, smoothed(t, efforts, PIECE)[1])
    away = float(np.linalg.norm(found.com - COM))
    told = found.deviations[0] / MASS, float(np.linalg.norm(found.com_deviations))
    return abs(found.mass / MASS - 1.0), float(told[0]), away, told[1]


def push_table(runs: int) -> tuple[Table, dict[str, list[float]]]:
    """Return errors of pushes on each joint."""
    dynamics = kd.compile(panda())
    columns = ('joint', 'missing after 50 ms: mean', 'worst', 'within 5 %', 'noise [N m]')
    table = Table(f'A step of {PUSH:g} N m, {runs} motions', columns)
    results: dict[str, list[float]] = {}
    for k, name in enumerate(track(JOINTS, 'pushes')):
        found = np.array([error_of_push(dynamics, k, 100 * k + seed) for seed in range(runs)])
        missing = found[:, 0]
        results[name] = missing.tolist()
        table.add(
            name,
            f'{100 * missing.mean():.2f} %',
            f'{100 * np.abs(missing).max():.2f} %',
            f'{np.mean(np.abs(missing) < WITHIN):.0%}',
            f'{found[:, 1].mean():.3f}',
        )
    table.notes.append(f'K = {GAIN:g} / s; {WINDOW * STEP * 500:g} ms of the 50 are the window')
    return table, results


def payload_table(runs: int) -> tuple[Table, dict[str, list[float]]]:
    """Return errors of payload estimates."""
    robot = panda()
    bare = kd.compile(robot)
    loaded = kd.compile(robot, payloads=[FRAME])
    loaded.set_payload(FRAME, MASS, COM, TENSOR)
    found = [errors_of_payload(bare, loaded, seed) for seed in track(range(runs), 'payloads')]
    columns = ('of', 'mean', 'worst', 'deviation told')
    table = Table(f'A payload of {MASS:g} kg, {runs} motions of {LASTS:g} s', columns)
    mass, told_mass, com, told_com = np.array(found).T
    table.add(
        'mass',
        f'{100 * mass.mean():.3f} %',
        f'{100 * mass.max():.3f} %',
        f'{100 * told_mass.mean():.3f} %',
    )
    table.add(
        'centre of mass',
        *(f'{1e3 * x:.2f} mm' for x in (com.mean(), com.max(), told_com.mean())),
    )
    return table, {'mass': mass.tolist(), 'com': com.tolist()}


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(prog='python -m studies.observer', description=__doc__)
    parser.add_argument('--runs', type=int, default=50, help='number of random motions')
    parser.add_argument('--quick', action='store_true', help='five motions')
    report.add_output(parser)
    options = parser.parse_args()
    console, results = report.begin()
    runs = 5 if options.quick else options.runs
    pushes, results['pushes'] = push_table(runs)
    payloads, results['payloads'] = payload_table(runs)
    report.finish(console, options.output, 'observer', results, [pushes, payloads])


if __name__ == '__main__':
    main()
