# SPDX-License-Identifier: Apache-2.0
"""Mistakes of users: each is refused with one error of the family, in words that help."""

import inspect
import re
from pathlib import Path

import mistake_calls
import mistake_table
import numpy as np
import pytest
import study_calls

import kane_dynamics as kd
from kane_dynamics.exceptions import KaneDynamicsError

BY_HAND = Path(__file__).parent / 'by_hand.txt'
TABLE = [
    line.split(' | ', 2)
    for line in mistake_table.TABLE.read_text().splitlines()
    if not line.startswith('#')
]


def rows_by_hand():
    """Return (expression, error, pattern) of the table written by hand."""
    lines = BY_HAND.read_text().splitlines()
    return [line.split(' | ') for line in lines if line and not line.startswith('#')]


@pytest.fixture(scope='module')
def answers():
    return {name: mistake_table.answer(*call) for name, *call in mistake_table.mistakes()}


def test_right_calls_are_taken():
    # else a mistake would be refused for another reason
    for call in mistake_calls.calls():
        if call.name not in mistake_table.SLOW:
            call.function(**{name: value for name, (_, value) in call.arguments.items()})


def test_no_mistake_is_silent_or_an_error_from_inside(answers):
    assert len(answers) > 450
    wrong = {name: said for name, said in answers.items() if not hasattr(kd.exceptions, said[0])}
    assert wrong == {}


def test_messages_are_short_and_say_something(answers):
    for name, (_, message) in answers.items():
        assert 15 < len(message) < 700, (name, message)
        assert 'Traceback' not in message
        assert 'object has no attribute' not in message


def _can_be_called(name):
    return not name.startswith('learning.') or 'learning.' in study_calls.CALLS


def test_messages_are_those_of_the_table(answers):
    found = {
        name: [kind, mistake_table.normalised(text)] for name, (kind, text) in answers.items()
    }
    assert found == {name: rest for name, *rest in TABLE if _can_be_called(name)}


def test_messages_name_the_argument_or_what_is_in_it():
    """The word that a user wrote stands in what is said, for the plain kinds of arguments."""
    for name, _, message in TABLE:
        argument = re.search(r'\((\w+):', name)[1]
        if argument in ('q', 'v', 'a', 'tau', 'u', 'robot', 'constraints', 'method', 'n'):
            assert re.search(rf'\b{argument.removesuffix("s")}', message), (name, message)


EXPECTED = (
    r'\b(need|must|there are|there is|at most|cannot|was built for|only|takes|one of|already)'
)
CAME = r"(\bgot\b|\bnamed\b|\bdiffer|\bbut\b|'|\bhas\b|\bis\b|\bare\b)"


def test_messages_say_what_was_expected_and_what_came():
    for name, _, message in TABLE:
        assert re.search(EXPECTED, message), (name, message)
        assert re.search(CAME, message), (name, message)


def test_unknown_names_are_told_with_the_nearest_one():
    unknown = [(name, message) for name, _, message in TABLE if "'wheel_letf'" in message]
    assert len(unknown) > 10
    for name, message in unknown:
        if "'wheel_left'" in message:
            assert "did you mean 'wheel_left'?" in message, name


def test_of_many_names_the_nearest_are_told():
    words = kd.exceptions.known_names([f'joint_{i}' for i in range(400)], 'joint_12x')
    assert words.startswith('there are 400, e.g. [') and "'joint_12'" in words
    assert len(words) < 200
    assert kd.exceptions.known_names(['a'], 3) == "there are ['a']"


@pytest.mark.parametrize(('expression', 'error', 'pattern'), rows_by_hand())
def test_mistakes_written_by_hand(expression, error, pattern):
    w = mistake_calls.world()
    names = {'kd': kd, 'np': np, 'c': kd.constraints, 'w': w, **vars(w)}
    with pytest.raises(getattr(kd.exceptions, error), match=pattern) as caught:
        eval(expression, names)
    assert isinstance(caught.value, KaneDynamicsError)


def test_every_public_function_is_called():
    called = {call.name.removeprefix('kd.') for call in mistake_calls.calls()}
    public = {name for name in kd.__all__ if inspect.isfunction(getattr(kd, name))}
    assert public - called == set()
    made = {f'constraints.{name}' for name in kd.constraints.__all__}
    makers = {
        name for name in made if inspect.isfunction(getattr(kd.constraints, name.split('.')[1]))
    }
    assert makers - called == set()


@pytest.mark.parametrize('name', [name for name, *_ in mistake_calls.listed()])
def test_every_argument_has_mistakes(name):
    if name.startswith('fast.'):
        return  # machine code has no signature
    (call,) = [call for call in mistake_calls.calls() if call.name == name]
    signature = inspect.signature(call.function)
    defaults = (
        'progress',
        'projection',
        'simplify',
        'snap_angles',
        'urdf',
        'engine',
        'halvings',
        'self',
        'compile_in_background',
        'exact',
        'steered',
        'share_freely',
        'retry',
    )
    names = {
        name
        for name, parameter in signature.parameters.items()
        if name not in defaults and parameter.kind not in (parameter.VAR_POSITIONAL, 4)
    }
    assert names <= set(call.arguments) | {'axis', 'centre'}
