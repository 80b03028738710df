# SPDX-License-Identifier: Apache-2.0
"""Angles written with a few digits: reported by `check`, made exact only where asked."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.robot.urdf.model_warnings import TOLERANCE, angle_warnings, exact_angle
from kane_dynamics.robot.urdf.records import read_urdf

MEANT = sorted({k * np.pi / d for d in (2, 3, 4) for k in range(-2 * d, 2 * d + 1)})


def arm(*rpy):
    """Return a URDF of hinges, each turned by an rpy, and a wheel with a collision cylinder."""
    links = ''.join(f'<link name="l{k}">{BODY}</link>' for k in range(len(rpy)))
    joints = ''.join(
        f'<joint name="j{k}" type="continuous"><parent link="{f"l{k - 1}" if k else "base"}"/>'
        f'<child link="l{k}"/><origin xyz="0 0 0.3" rpy="{text}"/><axis xyz="0 1 0"/></joint>'
        for k, text in enumerate(rpy)
    )
    return f'<robot name="arm"><link name="base"/>{links}{joints}</robot>'


BODY = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.1"/>'
    '</geometry></collision>'
)


def load(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return kd.load_urdf(text, **options)


@pytest.mark.parametrize('angle', MEANT)
@pytest.mark.parametrize('off', [0.9 * TOLERANCE, -0.9 * TOLERANCE, 4e-6, -1e-12, 0.0])
def test_near_angles_are_taken_as_exact(angle, off):
    assert_allclose(exact_angle(angle + off), angle, rtol=0, atol=1e-15)


@pytest.mark.parametrize('angle', [*MEANT, np.pi / 12, 5 * np.pi / 12, 1.0, 1.57, 0.5])
def test_other_angles_stay(angle):
    for off in (1.1 * TOLERANCE, -1.1 * TOLERANCE):
        assert exact_angle(angle + off) == angle + off
    if angle not in MEANT:
        assert exact_angle(angle) == angle


def test_only_who_asks_gets_exact_angles():
    text = arm('1.5708 0 -0.7854', '0.3 3.14159 1.0472')
    written, exact = load(text), load(text, snap_angles=True)
    wanted = load(arm(f'{np.pi / 2!r} 0 {-np.pi / 4!r}', f'0.3 {np.pi!r} {np.pi / 3!r}'))
    q = np.array([0.3, -0.4])
    # 1.5708 is off by 3.7e-6; exact angles differ from it by that, and from each other by roundoff
    assert np.abs(kd.mass_matrix(written, q) - kd.mass_matrix(wanted, q)).max() > 1e-7
    assert_allclose(kd.mass_matrix(exact, q), kd.mass_matrix(wanted, q), rtol=0, atol=1e-15)
    assert_allclose(exact.wheels['j0'].axis, [0.0, -1.0, 0.0], rtol=0, atol=1e-15)
    assert abs(written.wheels['j0'].axis[2]) > 1e-6


def test_one_remark_for_all_joints():
    (remark,) = angle_warnings(read_urdf(arm(*['1.5708 0 1.5708'] * 20, '0 -3.1416 0')))
    assert remark.startswith('41 rpy angles of joint origins are nearly, not exactly, multiples')
    assert '1.5708 (40 times), -3.1416;' in remark
    assert "difference is 7.3e-06 rad, at joint 'j20'" in remark
    assert 'snap_angles=True' in remark


@pytest.mark.parametrize('rpy', ['0 0 0', '1 2 3', f'{np.pi / 2!r} {-np.pi!r} {np.pi / 3!r}'])
def test_no_remark_where_there_is_nothing_to_say(rpy):
    assert list(angle_warnings(read_urdf(arm(rpy)))) == []


def test_check_reports_them(tmp_path, capsys):
    from kane_dynamics.cli import main

    path = tmp_path / 'arm.urdf'
    path.write_text(arm('1.5708 0 0'))
    assert main(['info', str(path)]) == 0
    assert '1 rpy angles of joint origins' in ' '.join(capsys.readouterr().err.split())
