# SPDX-License-Identifier: Apache-2.0
"""
Two arms identified from public recordings, beside published and known figures.

``--panda``: Franka's arm, 21 s at 1 kHz, torques behind the gear (Gaz, Cognetti, Oliva, Robuffo
Giordano and De Luca, IEEE RA-L 4(4), 2019; GPL-3, so it is not here: the repository
marcocognetti/FrankaEmikaPandaDynModel, exciting_traj_{time,positions,velocity,torques}.txt of
Trajectory_1 as {time,positions,velocity,torques}.txt). ``--ur10``: Universal Robots' UR10, 27 s at
125 Hz, efforts from currents (Automatic Control Group, University of Salerno, BSD-3-Clause),
a bag with /joint_states; where left out, the copy of the tests.

Each half of a recording predicts the other. Errors are 100 rms(measured - predicted)/(max - min of
measured), in percent.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from xml.etree import ElementTree

import numpy as np

import kane_dynamics as kd
from kane_dynamics.bags.files import JOINT_STATE, open_bag
from kane_dynamics.identification.friction import LINK_SIDE, MOTOR_SIDE, FrictionTerm
from kane_dynamics.identification.friction_selection import select_friction
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.result import Identification
from kane_dynamics.identification.samples import Samples, prepared_samples
from kane_dynamics.typing import Floats
from studies import robots

FINGERS = ('panda_finger_joint1', 'panda_finger_joint2')
HAND = ('panda_hand', 'panda_leftfinger', 'panda_rightfinger')
TABLE = Path(__file__).resolve().parents[2] / 'test' / 'data' / 'ur10_exciting_trajectory.npz'
STEPS = {'position': 1e-5, 'velocity': 1e-5, 'effort': 1e-4}  # of the table [rad, rad/s, N m]
STRIBECK = FrictionTerm('stribeck', 0.1)
PANDA_TERMS = (*LINK_SIDE, FrictionTerm('presliding', 0.002))
UR10_TERMS = (*MOTOR_SIDE, STRIBECK, FrictionTerm('presliding', 0.01))
SOLUTIONS = ('nominal', 'friction', 'least_squares', 'consistent')
PUBLISHED = {  # exciting motion, static poses: Gaz et al., supplement, Table III
    'my2 - 0.316 (m3 + ... + m7) - mz3': (-3.136, -3.103),
    'mx3 + 0.0825 (m4 + ... + m7)': (0.680, 0.687),
    'mx4 - 0.0825 (m5 + m6 + m7)': (-0.473, -0.489),
    'my4 + 0.384 (m5 + m6 + m7) + mz5': (1.752, 1.719),
    'my5 - mz6': (0.0817, 0.0771),
    'mx6 + 0.088 m7': (0.164, 0.166),
    'my6 - mz7': (-0.0623, -0.0677),
}
COULOMB = (0.245, 0.152, 0.183, 0.359, 0.267, 0.166, 0.211)  # the same, [N m]
Known = dict[str, tuple[Sequence[float], Sequence[float]]]
PANDA: Known = {
    'nominal': ((3.9, 1.2, 0.9, 3.6, 11.5, 5.1, 42.8), (3.0, 0.8, 0.8, 2.7, 11.6, 4.8, 42.3)),
    'consistent': ((1.4, 0.4, 0.3, 0.8, 2.0, 0.7, 3.4), (1.4, 0.2, 0.3, 0.7, 2.1, 0.8, 3.5)),
}
UR10: Known = {
    'nominal': ((32.3, 7.4, 14.9, 30.0, 39.0, 30.4), (31.3, 12.4, 14.2, 32.1, 39.6, 35.0)),
    'consistent': ((1.6, 1.3, 1.3, 1.8, 3.9, 7.3), (1.7, 1.6, 1.3, 2.1, 4.0, 8.0)),
}


def panda() -> kd.Robot:
    """Return Franka's arm without hand, which the recorded one did not have."""
    tree = ElementTree.fromstring(robots.arm('panda').path.read_text(encoding='utf-8'))
    for link in tree.iter('link'):
        if link.get('name') in HAND:
            for inertial in link.findall('inertial'):
                link.remove(inertial)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return kd.load_urdf(ElementTree.tostring(tree, 'unicode'), locked_joints=FINGERS)


def ur10() -> kd.Robot:
    """Return the UR10 of example-robot-data."""
    (path,) = robots.arm('panda').path.parents[2].glob('*/*/ur10_robot.urdf')
    return kd.load_urdf(path)


def halves(samples: Samples) -> tuple[Samples, Samples]:
    """Return both halves."""
    middle = len(samples) // 2
    return samples.part(slice(middle)), samples.part(slice(middle, 2 * middle))


def panda_samples(folder: Path) -> Samples:
    """Return the samples of the recording of Franka's arm."""
    time = np.loadtxt(folder / 'time.txt')
    names = 'positions', 'torques', 'velocity'
    columns = [np.loadtxt(folder / f'{name}.txt').reshape(len(time), 7) for name in names]
    return prepared_samples(time, *columns, corner=8.0, rate=100.0)[0]


def ur10_recording(bag: Path | None) -> tuple[Floats, dict[str, Floats]]:
    """Return times [s], and positions, velocities and efforts, from a bag or the table."""
    if bag is None:
        with np.load(TABLE) as table:
            columns = {name: STEPS[name] * np.cumsum(table[name], axis=0) for name in STEPS}
            return table['step'] * np.arange(len(columns['effort'])), columns
    with open_bag(bag, {'joints': ('/joint_states', JOINT_STATE)}) as messages:
        states = [recorded.message for recorded in messages]
    stamps = np.array([[x.header.stamp.sec, x.header.stamp.nanosec] for x in states])
    time = (stamps - stamps[0]) @ [1.0, 1e-9]
    return time, {name: np.array([getattr(x, name) for x in states]) for name in STEPS}


def ur10_samples(bag: Path | None = None) -> Samples:
    """Return the samples of the recording of the UR10."""
    time, x = ur10_recording(bag)
    columns = x['position'], x['effort'], x['velocity']
    return prepared_samples(time, *columns, corner=5.0, rate=62.5)[0]


def both_ways(
    robot: kd.Robot, samples: Samples, terms: Sequence[FrictionTerm], start: Sequence[FrictionTerm]
) -> list[tuple[Identification, Samples, Identification]]:
    """Return what each half says, the other half, and what it says with selected terms."""
    dynamics, results = kd.compile(robot), []
    for training, test in (halves(samples), halves(samples)[::-1]):
        begin = perf_counter()
        result = identify(dynamics, [training], friction=terms)
        between = perf_counter()
        selection = select_friction(dynamics, [training], start=start)
        print(
            f'  fit {between - begin:.2f} s, selection of terms {perf_counter() - between:.2f} s: '
            f'rank {result.base.rank}, condition {result.base.condition:.1f}'
        )
        results.append((result, test, identify(dynamics, [training], friction=selection)))
    return results


def show(results: Sequence[tuple[Identification, Samples, Identification]], known: Known) -> None:
    """Print the errors of both directions, filtered and raw, beside known ones."""
    for way, (result, test, selected) in enumerate(results):
        print(f'  {("first half -> second", "second half -> first")[way]}')
        for solution in SOLUTIONS:
            errors = result.errors(test, solution)
            print(f'    {solution:15}{_row(errors.filtered)}   raw{_row(errors.raw)}')
            if solution in known:
                print(f'    {"  known":15}{_row(known[solution][way])}')
        print(f'    {"selected terms":15}{_row(selected.errors(test).filtered)}')
        for name, terms in selected.friction.items():
            print(f'      {name}: {", ".join(f"{x.kind} {x.scale:g}" for x in terms if x.scale)}')
        for message in result.warnings:
            print(f'    warning: {message}')


def _row(values: Sequence[float] | Floats) -> str:
    return ''.join(f'{x:6.1f}' for x in values)


def show_parameters(samples: Samples) -> None:
    """Print base parameters of Franka's arm of the whole recording beside the published ones."""
    result = identify(kd.compile(panda()), [samples])
    base, fit = result.base, result.fit
    consistent = base.matrix @ result.solutions['consistent']
    print(f'\n  rank {base.rank}; base parameter: published (exciting, static), ours, consistent')
    for name, published in PUBLISHED.items():
        k = base.sums.index(name)
        deviation = np.sqrt(fit.covariance[k, k])
        print(
            f'    {name:36}{published[0]:9.4f}{published[1]:9.4f}{fit.values[k]:9.4f} '
            f'+- {deviation:.4f}{consistent[k]:9.4f}'
        )
    ours = result.solutions['least_squares'][result.equations.inertial + 1 :: len(LINK_SIDE)]
    rows = {
        'published, of sign v': COULOMB,
        'ours, of tanh(v / 0.02)': ours,
        'ours, of sign v as they did': _of_signs(samples),
    }
    for name, values in rows.items():
        apart = ' '.join(
            f'{100.0 * (x / y - 1.0):4.0f}' for x, y in zip(values, COULOMB, strict=True)
        )
        print(f'    Coulomb [N m] {name:30}{" ".join(f"{x:.3f}" for x in values)}   {apart} %')


def _of_signs(samples: Samples) -> Floats:
    """Return Coulomb friction of Franka's arm by least squares of all efforts, with sign(v)."""
    dynamics = kd.compile(panda())
    W = dynamics.regressor(samples.q, samples.v, samples.a)
    n = W.shape[1]
    friction = np.zeros((len(samples), n, 3 * n))
    for k in range(n):
        v = samples.v[:, k]
        friction[:, k, k::n] = np.column_stack([np.sign(v), v, np.ones(len(v))])
    rows = np.concatenate([friction, W], axis=2).reshape(-1, 3 * n + W.shape[2])
    return np.asarray(np.linalg.lstsq(rows, samples.tau.ravel(), rcond=1e-8)[0][:n])


def arms(panda_folder: Path | None, ur10_bag: Path | None) -> None:
    """Print the tables of both arms, of Franka's where its recording is."""
    if panda_folder is not None:
        print("Franka's arm: torques behind the gear, presliding 2 mrad")
        samples = panda_samples(panda_folder)
        show(both_ways(panda(), samples, PANDA_TERMS, LINK_SIDE), PANDA)
        show_parameters(samples)
    print('UR10: efforts of motors, Stribeck 0.1 rad/s, presliding 10 mrad')
    show(both_ways(ur10(), ur10_samples(ur10_bag), UR10_TERMS, MOTOR_SIDE), UR10)
