# SPDX-License-Identifier: Apache-2.0
"""A sample of the fuzzing, the same targets with hypothesis, and what fuzzing has found."""

import sys
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

import campaign
import command_targets
import file_targets
import numpy as np
import sources

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    InvalidInputError,
    KaneDynamicsError,
    UrdfError,
)
from kane_dynamics.trajectories.trajectory_files import read_trajectory
from kane_dynamics.view.recording import load_recording

TARGETS = file_targets.targets()
LINKS = '<link name="l{0}"/>'
JOINTS = (
    '<joint name="j{0}" type="{1}"><parent link="l{0}"/><child link="l{2}"/>'
    '<limit effort="1" velocity="1"/></joint>'
)


def chain(n, kind='prismatic', link=LINKS):
    """Return a URDF of n joints."""
    links = (link.format(i) for i in range(n + 1))
    joints = (JOINTS.format(i, kind, i + 1) for i in range(n))
    return f'<robot name="r">{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.parametrize('target', TARGETS, ids=lambda target: target.name)
def test_a_sample_is_taken_or_refused_by_name(target):
    count = 3 if target.name == 'URDF large' else 100
    outcome = campaign.run(target, count, seed=1)
    assert outcome.findings == []
    assert outcome.refused + outcome.accepted == outcome.inputs == count


def test_a_sample_of_command_lines_ends_as_said():
    """With one of the codes that the help lists, and with one word on why."""
    outcome = campaign.run(command_targets.targets()[0], 60, seed=4)
    assert outcome.unhandled == 0, outcome.findings
    assert outcome.refused > 30


def test_the_draws_reach_both_sides():
    """Else a campaign would only show that rubbish is refused, or that nothing was changed."""
    for target in (TARGETS[0], TARGETS[5]):
        outcome = campaign.run(target, 150, seed=2)
        assert outcome.accepted > 5, target.name
        assert outcome.refused > 50, target.name


def test_a_finding_is_seen_and_made_small():
    def run(text):
        if 'z' in text:
            raise ZeroDivisionError('found')

    target = campaign.Target('wrong', lambda random: 'a' * 50 + 'z' + 'b' * 50, run, 1.0)
    outcome = campaign.run(target, 3)
    assert outcome.unhandled == 3
    assert len(outcome.findings) == 1  # the same one is kept once
    assert outcome.findings[0]['input'] == "'z'"


def test_what_hangs_is_interrupted(monkeypatch):
    monkeypatch.setattr(campaign, 'ALARM', 0.1)
    target = campaign.Target('slow', lambda random: 1, lambda given: time.sleep(5.0), 1.0)
    assert campaign.run(target, 1).slow == 1


@pytest.mark.parametrize(('renew', 'slow'), [(None, 0), (lambda: None, 1)])
def test_what_is_slow_once_is_tried_again_where_nothing_keeps_a_state(monkeypatch, renew, slow):
    monkeypatch.setattr(campaign, 'HANG', 0.02)
    times = iter([0.05, 0.0, 0.05])

    def work(given):
        end = time.process_time() + next(times)
        while time.process_time() < end:
            pass

    target = campaign.Target('slow', lambda random: 1, work, 1.0, renew)
    assert campaign.run(target, 1).slow == slow


@pytest.mark.parametrize('target', TARGETS[:2] + TARGETS[3:7], ids=lambda target: target.name)
def test_hypothesis_finds_nothing(target):
    @settings(
        max_examples=30,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def tried(random):
        with campaign.alarm():
            assert not campaign.answer(target, target.draw(random))[2]

    tried()


# what fuzzing has found


@pytest.mark.parametrize(
    ('wrong', 'words'),
    [
        ('xyz="1e308 0 0"', 'at most 1e\\+30'),
        ('xyz="' + '1' * 3000 + ' 0 0"', r'11 \.\.\. 111'),  # and the message is short
        ('ixx="1e200"', 'at most 1e\\+30'),
    ],
)
def test_numbers_that_overflow_are_refused(wrong, words):
    name = wrong.partition('=')[0]
    before = {'xyz': 'xyz="0 0 0.1"', 'ixx': 'ixx="0.1"'}[name]
    with pytest.raises(UrdfError, match=words) as caught:
        kd.load_urdf(sources.HINGE.replace(before, wrong, 1))
    assert len(str(caught.value)) < 300


def test_a_limit_may_say_unlimited():
    text = sources.HINGE.replace('effort="10"', 'effort="1.7976931348623157e308"')
    assert kd.load_urdf(text).effort_limit[0] > 1e308


def test_a_long_name_is_refused_in_short_words():
    with pytest.raises(UrdfError, match='at most 256') as caught:
        kd.load_urdf(sources.HINGE.replace('base_link', 'b' * 100_000))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ('n', 'kind', 'what'), [(501, 'prismatic', '500'), (2000, 'fixed', '2000')]
)
def test_robots_that_would_take_long_are_refused(n, kind, what):
    with pytest.raises(UrdfError, match=f'at most {what} are read'):
        kd.load_urdf(chain(n, kind))


def test_a_long_chain_without_mass_is_loaded_soon():
    """The remark on its singular mass matrix took 68 s for 400 links."""
    begin = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        kd.load_urdf(chain(300))
    assert 'mass matrix is singular' in str(caught[-1].message)
    assert time.process_time() - begin < 10.0


@pytest.mark.parametrize(
    'text',
    [
        'a: &a [*a]',
        'a: &a {b: *a}',
        '[' * 500,
        '[' * 100_000,
        'a: ' + '9' * 5000,
        'a: 2001-99-99',
        '/**: {ros__parameters: {gravity: [a, b, c]}}',
        '/**: {ros__parameters: {base_type: 1}}',
        '/**: {ros__parameters: {publish_rate: true}}',
        '/**: {ros__parameters: {publish_rate: ' + '9' * 400 + '}}',
    ],
)
def test_parameter_files_that_are_none(text):
    with pytest.raises(InvalidInputError):
        file_targets.read_parameters(text)


def test_aliases_do_not_unfold_without_end():
    """2^40 parameters in 40 lines; they were counted one by one."""
    lines = ['a0: &a0 {b: 1}', *(f'a{i + 1}: &a{i + 1} {{c: *a{i}, d: *a{i}}}' for i in range(40))]
    with pytest.raises(InvalidInputError, match='aliases'):
        file_targets.read_parameters('\n'.join(lines))


@pytest.mark.parametrize(
    ('ending', 'text'),
    [
        ('json', '[' * 100_000),
        ('json', '9' * 5000),
        ('csv', 'time,' + 'a' * 200_000 + '/position\n0,0\n'),
        ('json', '{"joint_names": ["a"], "points": [{"time_from_start": {"sec": []}}]}'),
        ('json', '{"joint_names": ["a"], "points": [{"time_from_start": {"sec": 1e400}}]}'),
        ('json', '{"joint_names": ["a"], "points": [{"positions": 1, "time_from_start": {}}]}'),
        *(
            ('json', sources.JSON_PATHS[0].text.replace(*changes))
            for changes in (
                ('"points": [{"transforms"', '"points": [1, {"transforms"'),
                ('"x": 0, "y": 1', '"x": 0'),
                ('"x": 1, "y": 0', '"x": "1"'),
                ('[{"linear"', '[{}, {"linear"'),
            )
        ),
        (
            'json',
            sources.JSON_PATHS[0].text.replace(
                '{"joint_names": ["world"]', '[{"a": 1}], "b": {"c": 1'
            ),
        ),
    ],
)
def test_trajectory_files_that_are_none(ending, text):
    with pytest.raises(InvalidInputError):
        file_targets.read_path(f'{ending}\n{text}')


def test_a_path_of_a_trajectory_may_not_hold_a_zero():
    with pytest.raises(InvalidInputError, match='cannot be read'):
        read_trajectory('a\0b.json')


def test_an_archive_that_grows_without_end_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr('kane_dynamics.view.recording.LARGEST', 1000)
    np.savez_compressed(tmp_path / 'zeros.npz', zeros=np.zeros(1000))
    with pytest.raises(InvalidInputError, match='at most 1000'):
        load_recording(tmp_path / 'zeros.npz')


def test_a_recording_is_not_unpickled(tmp_path):
    """What an object array holds would run."""

    class Harm:
        def __reduce__(self):
            return (Path(tmp_path / 'harm').touch, ())

    np.savez(tmp_path / 'harm.npz', name=np.array(Harm(), dtype=object))
    with pytest.raises(KaneDynamicsError, match='pickle'):
        load_recording(tmp_path / 'harm.npz')
    assert not (tmp_path / 'harm').exists()


def test_nodes_take_a_sample_of_messages():
    """Every topic, service and timer of every node; no DDS in between."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    import message_targets

    for target in message_targets.targets():
        outcome = campaign.run(target, 60, seed=3)
        assert outcome.findings == [], target.name
        assert outcome.accepted, target.name
        assert outcome.refused, target.name


def test_a_recording_of_one_time_without_a_list_is_refused():
    draw = next(target for target in TARGETS if target.name == 'recording').draw
    for number in (166, 510):  # no list; a message of 21,072 characters
        data = draw(campaign.random_of('recording', 0, number))
        with pytest.raises(InvalidInputError) as caught:
            file_targets.read_recording(data)
        assert len(str(caught.value)) < 2000
