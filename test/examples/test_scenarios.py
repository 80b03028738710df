# SPDX-License-Identifier: Apache-2.0
"""The scenarios of constraints that come and go: laws on what they record."""

import importlib
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.view.forces import STATES
from kane_dynamics.view.recording import load_recording

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'scenarios'
sys.path.insert(0, str(FOLDER))
SHORTER = {'dock_and_push': {'pushed_until': 3.2}}
OPEN, HOLDS, STICKS, SLIPS = range(4)


@cache
def scenario(name):
    """Return the module and its recording."""
    module = importlib.import_module(name)
    return module, module.simulate(**SHORTER.get(name, {}))


def force(recording, name, axis):
    """Return a component of a force, and the state of its row."""
    k = recording.force_names.index(name)
    return recording.force_vectors[:, k, axis], recording.force_states[:, k]


def test_every_scenario_is_tested():
    here = Path(__file__).read_text()
    assert all(f"scenario('{path.stem}')" in here for path in FOLDER.glob('*.py'))


def test_the_caster_sticks_until_its_torque_is_too_large():
    module, recording = scenario('sticking_caster')
    torque, state = force(recording, 'caster/lock', 2)
    stuck = state == HOLDS
    assert_allclose(recording.q[stuck, 3], recording.q[stuck, 3][0], atol=1e-12)
    assert_allclose(recording.v[stuck, 3], 0.0, atol=1e-12)
    assert recording.event_texts == ('dirt holds', 'dirt is gone')
    assert 0.9 * module.BEARS < np.abs(torque).max() <= module.BEARS * (1.0 + 1e-9)
    q, v = recording.q, recording.v
    yaw = q[:, 2] + q[:, 3]
    arm = module.PIVOT * np.cos(q[:, 3]) - module.TRAIL
    side = -np.sin(yaw) * v[:, 0] + np.cos(yaw) * v[:, 1] + arm * v[:, 2] - module.TRAIL * v[:, 3]
    assert_allclose(side, 0.0, atol=1e-10)
    gone = recording.at(recording.event_times[1])
    assert_allclose(v[gone], v[gone - 1], atol=0.02)  # nothing jumps on deletion


def test_the_arm_stays_within_its_range_and_the_stop_only_pushes():
    module, recording = scenario('arm_end_stop')
    torque, state = force(recording, 'elbow/upper', 1)
    assert (recording.q[:, 1] <= module.END + 1e-9).all()
    assert (torque <= 0.0).all() and (torque[state == OPEN] == 0.0).all()
    assert STATES[HOLDS] == 'holds' and (state == HOLDS).any()
    bounces = [text for text in recording.event_texts if text.startswith('impact')]
    assert 3 < len(bounces) < 30  # then it rests
    assert recording.event_texts[-1] == 'stop open'


def test_friction_of_the_wheel_obeys_coulomb_and_it_recovers():
    module, recording = scenario('wheel_on_ice')
    friction, state = force(recording, 'slip', 0)
    load = (0.5 * module.CAR + module.WHEEL) * module.GRAVITY
    slip = recording.v[:, 0] - module.RADIUS * recording.v[:, 1]
    assert_allclose(slip[state == STICKS], 0.0, atol=1e-9)
    moving = (state == SLIPS) & (np.abs(slip) > 1e-6)
    mu = np.abs(friction[moving]) / load
    assert set(mu.round(9)) == {module.ICE, module.DRY}
    assert (np.sign(friction[moving]) == -np.sign(slip[moving])).all()
    assert recording.event_texts[-1] == 'dry ground sticks'
    begins = recording.at(recording.event_times[1])  # no slip yet, but friction against it
    assert friction[begins] == pytest.approx(module.ICE * load)
    # rolling: torque / radius less what turns the wheel accelerates car and wheel
    inertia = 0.5 * module.WHEEL
    expected = module.DRIVE / module.RADIUS / (module.CAR + module.WHEEL + inertia)
    late = recording.time > 1.9
    rate = np.polyfit(recording.time[late], recording.v[late, 0], 1)[0]
    assert_allclose(rate, expected, rtol=1e-6)


def test_the_tip_on_the_table_brakes_and_then_holds():
    module, recording = scenario('brace_and_brake')
    press, state = force(recording, 'fore/contact', 2)
    rub, _ = force(recording, 'tip/slip', 0)
    assert (press >= 0.0).all() and (press[state == OPEN] == 0.0).all()
    assert (np.abs(rub) <= module.FRICTION * press + 1e-9).all()
    q = recording.q
    tip = 0.9 - module.UPPER * np.sin(q[:, 1]) - module.FORE * np.sin(q[:, 1] + q[:, 2])
    assert (tip > module.TABLE - 1e-9).all()
    assert abs(recording.v[-1, 0]) < 0.02 < 0.7 < recording.v[0, 0]
    assert_allclose(rub[-1], -module.PUSH, rtol=0.2)  # it holds the robot, which swings a little


def test_gripper_and_handle_stay_together_while_latched():
    module, recording = scenario('dock_and_push')  # shorter than what it writes
    robot = module.robot_and_cart()
    k = recording.force_names.index('handle=gripper/vx')
    latched = np.flatnonzero(recording.force_states[:, k] == HOLDS)
    assert len(latched) > 80
    poses = recording.poses[latched]
    for row in poses[::10]:
        places = []
        for name in ('gripper', 'handle'):
            frame = robot.frame(name)
            at = row[frame.body]
            w, axis, p = at[3], at[4:], frame.pose.position()
            turned = p + 2.0 * (w * np.cross(axis, p) + np.cross(axis, np.cross(axis, p)))
            places.append(at[:3] + turned)
        assert_allclose(places[0], places[1], atol=1e-8)
    yaw = recording.q[latched, 6]
    assert abs(yaw[-1] - yaw[0]) > 0.1  # round a bend
    speed = np.hypot(*recording.v[latched[-1], 4:6])
    assert speed > 0.4


def test_pictures_are_written(tmp_path, capsys):
    module, recording = scenario('arm_end_stop')
    pytest.MonkeyPatch().setattr(module, 'simulate', lambda: recording)
    module.main(['--output', str(tmp_path / 'new')])
    output = capsys.readouterr().out
    assert 's  stop open' in output
    written = {path.name: path.stat().st_size for path in (tmp_path / 'new').iterdir()}
    endings = ('.npz', '.gif', '_strobe.png', '.png', '.pdf')
    assert set(written) == {f'arm_end_stop{ending}' for ending in endings}
    assert min(written.values()) > 5000
    assert load_recording(tmp_path / 'new' / 'arm_end_stop.npz').name == 'arm'
