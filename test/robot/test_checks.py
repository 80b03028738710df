# SPDX-License-Identifier: Apache-2.0
"""What counts as numbers, names and choices at the door."""

import array
import datetime
import decimal
import fractions

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import (
    as_choice,
    as_count,
    as_names,
    as_number,
    as_numbers,
    as_vector,
    check_increasing,
    describe,
    index_of,
    not_finite,
)

TWO_NUMBERS = {
    'list': [1, 2],
    'tuple of both kinds': (1, 2.0),
    'range': range(1, 3),
    'integers': np.array([1, 2]),
    'float32': np.array([1, 2], dtype=np.float32),
    'numpy scalars': [np.float32(1), np.int8(2)],
    'fractions': [fractions.Fraction(1), fractions.Fraction(4, 2)],
    'objects that are numbers': np.array([1, 2.0], dtype=object),
    'arrays in a list': [np.array(1.0), 2],
    'array of the library': array.array('d', [1.0, 2.0]),
    'memory view': memoryview(np.array([1.0, 2.0])),
    'every second entry': np.array([1.0, 7.0, 2.0, 7.0])[::2],
}
# numpy would make two floats of nearly all of these
NO_NUMBERS = {
    'complex': ([1, 2j], 'complex 2j'),
    'complex without imaginary part': ([1, 2 + 0j], 'complex'),
    'complex array': (np.array([1, 2j]), r'complex numbers \(complex128\)'),
    'complex scalar': ([1, np.complex64(2)], 'complex'),
    'numeric text': (['1', '2'], "str '1'"),
    'text': ('12', "str '12'"),
    'bytes': (b'12', 'bytes'),
    'array of text': (np.array(['1', '2']), 'text'),
    'text among objects': (np.array([1, '2'], dtype=object), 'str'),
    'truth values': ([True, False], 'bool True'),
    'one truth value': ([1.0, True], 'bool True'),
    'truth values of numpy': (np.array([True, False]), r'truth values \(bool\)'),
    'a truth value of numpy': ([1.0, np.bool_(True)], 'bool'),
    'an array of a truth value': ([1.0, np.array(True)], 'truth values'),
    'none': (None, 'None'),
    'a none': ([1.0, None], 'None'),
    'dates': (np.array(['2020-01-01'] * 2, dtype='M8[D]'), r'dates \(datetime64\[D\]\)'),
    'dates of the library': ([datetime.date(2020, 1, 1)] * 2, 'date'),
    'durations': (np.array([1, 2], dtype='m8[s]'), 'time differences'),
    'records': (np.zeros(2, dtype=[('x', float)]), 'records'),
    'masked array': (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), 'masked array; fill it'),
    'array that masks nothing': (np.ma.masked_array([1.0, 2.0]), 'masked array; fill it'),
    'masked entry': ([1.0, np.ma.masked], 'masked'),
    'set': ({1.0, 2.0}, 'set'),
    'mapping': ({'a': 1.0}, 'dict'),
    'generator': ((x for x in (1.0, 2.0)), 'generator'),
    'decimals': ([decimal.Decimal(1)] * 2, 'Decimal'),
    'objects': ([object()] * 2, 'object'),
    'too large': ([1, 10**400], 'list'),
    'ragged': ([[1.0, 2.0], [3.0]], 'list'),
    'symbols': (ca.SX.sym('x', 2), 'SX'),
    'a symbol': ([1.0, ca.SX.sym('x')], 'SX'),
}


@pytest.mark.parametrize('x', TWO_NUMBERS.values(), ids=TWO_NUMBERS.keys())
def test_numbers_are_taken_and_copied(x):
    vector = as_vector('q', x, 2)
    assert vector.dtype == np.float64
    assert_array_equal(vector, [1.0, 2.0])
    assert not np.may_share_memory(vector, np.asarray(x))


@pytest.mark.parametrize(('x', 'said'), NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_what_is_no_number_is_refused_and_said(x, said):
    with pytest.raises(InvalidInputError, match=f'^q: need real numbers, got .*{said}'):
        as_numbers('q', x)
    with pytest.raises(InvalidInputError, match='^q: need real numbers'):
        as_vector('q', x, 2)


def test_nan_is_a_number_but_not_a_finite_one():
    assert np.isnan(as_numbers('q', [1, np.nan])[1])
    for bad in (np.nan, np.inf, np.longdouble('1e4000')):
        with pytest.raises(InvalidInputError, match='need finite numbers'):
            as_vector('q', [1, bad], 2)
        with pytest.raises(InvalidInputError, match='need one finite number'):
            as_number('dt [s]', bad)


@pytest.mark.parametrize('bad', [[1.0], True, '1', None, 1j, np.array([1.0])])
def test_one_number(bad):
    assert as_number('dt [s]', np.float32(0.5)) == as_number('dt [s]', np.array(0.5)) == 0.5
    with pytest.raises(InvalidInputError, match=r'dt \[s\]: need'):
        as_number('dt [s]', bad)


@pytest.mark.parametrize('bad', [-1, 1.5, np.nan, True, '3', [3]])
def test_counts(bad):
    assert as_count('n', 3) == as_count('n', np.int64(3)) == as_count('n', 3.0) == 3
    with pytest.raises(InvalidInputError, match='n: need'):
        as_count('n', bad)


@pytest.mark.parametrize('bad', ['fix', None, ['fixed'], {}])
def test_choices(bad):
    assert as_choice('base', 'fixed', ('fixed', 'planar')) == 'fixed'
    with pytest.raises(InvalidInputError, match=r"one of \['fixed', 'planar'\], got"):
        as_choice('base', bad, ('fixed', 'planar'))


@pytest.mark.parametrize('bad', ['arm', b'arm', None, 3, ['arm', 3]])
def test_several_names(bad):
    assert as_names('frames', iter(['a', 'b'])) == ('a', 'b')
    with pytest.raises(InvalidInputError, match='frames: need'):
        as_names('frames', bad)


@pytest.mark.parametrize('bad', ['arn', None, ['arm'], 0])
def test_an_unknown_name_is_told_what_exists(bad):
    assert index_of('joint', 'arm', ('leg', 'arm')) == 1
    said = "no joint named 'arn'" if bad == 'arn' else 'joint: need one name, got '
    with pytest.raises(NameNotFoundError, match=rf"^{said}.*; there are \['arm', 'leg'\]"):
        index_of('joint', bad, ('leg', 'arm'))


def test_messages_are_short():
    with pytest.raises(InvalidInputError) as caught:
        as_vector('q', ['text' * 1000] * 1000, 2)
    assert len(str(caught.value)) < 200


CAME = (
    (None, 'None'),
    (iter, 'the function iter'),
    (int, 'the class int'),
    (np, 'the module numpy'),
    (object(), 'object'),
    (iter([1]), 'list_iterator'),
    (np.ones(2), 'array([1., 1.])'),
    (decimal.Decimal(1), "Decimal('1')"),
    ('a', "str 'a'"),
    (True, 'bool True'),
)


@pytest.mark.parametrize(('x', 'said'), CAME, ids=[said for _, said in CAME])
def test_what_came_is_said_once_and_without_addresses(x, said):
    assert describe(x) == said


def test_what_is_not_finite_is_told_with_its_place():
    rows = np.zeros((3, 400))
    rows[0, 2], rows[1, 0], rows[2, 7], rows[2, 8] = np.nan, np.inf, -np.inf, np.nan
    assert not_finite(rows) == 'nan at [0, 2], inf at [1, 0], -inf at [2, 7] and 1 more'
    assert not_finite(np.array([1.0, np.inf])) == 'inf at [1]'


def test_numbers_that_do_not_increase_are_told_with_their_place():
    check_increasing('times [s]', np.array([0.0, 1.0, 2.0]))
    with pytest.raises(InvalidInputError, match=r'got 0.5 after 1 at \[2\]'):
        check_increasing('times [s]', np.array([0.0, 1.0, 0.5]))
    with pytest.raises(InvalidInputError, match=r'got nan at \[1\]'):
        check_increasing('times [s]', np.array([0.0, np.nan, 0.5]))


@pytest.mark.parametrize('bad', [0, '1', None, 1.5, np.nan, True])
def test_counts_have_a_least_value(bad):
    assert as_count('cells', np.float64(2.0), 1) == 2
    with pytest.raises(InvalidInputError, match='cells: need a whole number >= 1, got '):
        as_count('cells', bad, 1)


def test_of_an_endless_name_a_part_is_told():
    with pytest.raises(NameNotFoundError) as caught:
        index_of('joint', 'a' * 100_000, ('arm',))
    assert len(str(caught.value)) < 200
