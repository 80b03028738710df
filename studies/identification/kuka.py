# SPDX-License-Identifier: Apache-2.0
"""
A KUKA KR300 from recordings in which joints 4 to 6 stand still.

JonasWeigand/Robot_Identification (MIT): 10 s each at 250 Hz; the `data.mat` of A, B and C as
FOLDER/{A,B,C}.mat, and kinematics, masses and gear ratios of its model. Efforts are the motors'
times the gear ratio. Joint 2 has a hydraulic counterbalance, which is no part of the model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import loadmat

import kane_dynamics as kd
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.identification import identify
from kane_dynamics.identification.recording_checks import at_rest
from kane_dynamics.identification.samples import Samples, prepared_samples
from kane_dynamics.typing import Floats
from studies.report import Table

GEARS = 1798 / 7, 1872 / 7, 757 / 3, 221.0, 5032 / 21, 206793 / 1340
LINKS = (  # d, a, twist, offset, mass, centre of mass, xx yy zz xy yz xz about it
    (-0.675, 0.35, 1, 0, 395.4, (-353, 174, -4), (16.73, 29.8, 32.81, -1.704, 0.1294, 4.404)),
    (-0.189, 1.15, 0, 0, 339.12, (-709, -1, 23), (7.508, 88.89, 88.67, 0.43, 0.1732, -4.397)),
    (0.189, 0.041, -1, 1, 105.21, (-18, -18, -76), (10.78, 10.19, 1.943, 0.118, -0.606, -0.102)),
    (-1.0, 0.0, 1, 0, 35.8, (0, 236, 1), (0.425, 0.218, 0.4285, 0.0, -0.0114, 0.0)),
    (0.0, 0.0, -1, 0, 31.46, (0, -80, -9), (0.284, 0.2296, 0.2583, 0.0, -0.0195, 0.0)),
    (-0.24, 0.0, 2, 0, 17.78, (0, 0, -50), (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)),
)
CORNER = 8.0  # [Hz]


def kuka() -> kd.Robot:
    """Return the arm, without payload."""
    ahead, bodies = _turned((1.0, 0.0, 0.0), 2), []
    for k, (d, a, twist, offset, mass, centre, moments) in enumerate(LINKS):
        local = _moved(a, 0.0, d) * _turned((1.0, 0.0, 0.0), twist)
        xx, yy, zz, xy, yz, xz = moments
        R = local.rotation_matrix()
        tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        com = R @ (1e-3 * np.array(centre)) + local.position()
        name = f'joint_{k + 1}'
        bodies.append(
            kd.Body(
                f'link_{k + 1}',
                f'link_{k}' if k else '',
                kd.Joint(name, kd.Revolute((0.0, 0.0, 1.0))),
                ahead * _turned((0.0, 0.0, 1.0), offset),
                kd.Inertia(mass, com, tensor),
            )
        )
        ahead = local
    return kd.Robot('kr300', bodies)


def _turned(axis: tuple[float, float, float], quarters: int) -> kd.Pose:
    half = 0.25 * np.pi * quarters
    turn = np.r_[np.cos(half), np.sin(half) * np.array(axis)]
    return kd.Pose.from_rotation_and_position(turn, (0.0, 0.0, 0.0))


def _moved(*position: float) -> kd.Pose:
    return kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), position)


def kuka_samples(file: Path) -> Samples:
    """Return the samples of a recording; joints that stand still do not move in them."""
    rec = loadmat(file, squeeze_me=True, struct_as_record=False)['rec']
    q, v = np.deg2rad(rec.act_pos_se_deg.T), np.deg2rad(rec.act_vel_se_deg_per_s.T)
    tau: Floats = rec.act_torque_abs_nm.T * GEARS
    (samples,) = prepared_samples(rec.time_cont, q, tau, v, corner=CORNER)
    return at_rest(samples, range(6), range(6))


def kuka_tables(folder: Path) -> list[Table]:
    """Return errors of A on B and C, and what A shows of joints 4 to 6."""
    dynamics = kd.compile(kuka())
    training = kuka_samples(folder / 'A.mat')
    result = identify(dynamics, [training], friction=MOTOR_SIDE)
    table = Table('KR300, A predicts', ('recording', *(f'joint_{k}' for k in range(1, 7))))
    for test in 'ABC':
        for solution in ('friction', 'least_squares', 'consistent'):
            errors = result.errors(kuka_samples(folder / f'{test}.mat'), solution).filtered
            table.add(f'{test}, {solution}', *(f'{x:.1f}' for x in errors))
    unseen = [name for name in result.base.with_status('unseen') if 'joint' in name]
    table.notes += [f'condition {result.base.condition:.0f}', f'unseen: {", ".join(unseen)}']
    table.notes += result.warnings
    return [table]
