# SPDX-License-Identifier: Apache-2.0
"""
One door for every kind of number that the algebra accepts.

A test gives `evaluate` a function of vectors and the numbers to put in; the fixture runs it with

- ``float``: numpy-quaternion,
- ``casadi``: every vector traced (`SX`), the expression graph evaluated afterwards,
- ``mixed``: the first vector constant and the others traced, as in a traced robot (of a single
  vector: its first half constant),
- ``batch``: every component an array; the test's numbers are the first entry of the batch.
"""

import casadi
import numpy as np
import pytest


def _flat(value):
    """Return all scalars in nested tuples, lists and arrays."""
    if isinstance(value, (tuple, list)):
        return [scalar for part in value for scalar in _flat(part)]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [scalar for part in value.ravel() for scalar in _flat(part)]
    return [value]


def _as_floats(function, vectors):
    return np.concatenate([np.ravel(part) for part in _flat(function(*vectors))])


def _traced(function, vectors, constant):
    """Trace all components but the first ones, whose number is given."""
    numbers = np.concatenate(vectors)
    symbol = casadi.SX.sym('v', len(numbers) - constant)
    given = [*numbers[:constant].tolist(), *(symbol[i] for i in range(symbol.numel()))]
    ends = np.cumsum([len(vector) for vector in vectors])
    arguments = [given[end - len(v) : end] for v, end in zip(vectors, ends, strict=True)]
    parts = []
    for part in _flat(function(*arguments)):
        parts.extend(part.tolist() if isinstance(part, np.ndarray) else [part])
    graph = casadi.Function('f', [symbol], [casadi.vertcat(*parts)])
    return graph(numbers[constant:]).full().ravel()


def _mixed(function, vectors):
    return _traced(function, vectors, len(vectors[0]) // (1 if len(vectors) > 1 else 2))


def _batched(function, vectors):
    parts = _flat(function(*([np.array([c, 1.5 - c]) for c in vector] for vector in vectors)))
    return np.array([np.ravel(part)[0] for part in parts], dtype=float)


EVALUATORS = {
    'float': _as_floats,
    'casadi': lambda function, vectors: _traced(function, vectors, 0),
    'mixed': _mixed,
    'batch': _batched,
}


@pytest.fixture(scope='session', params=EVALUATORS)
def evaluate(request):
    """Return f(function, *vectors) -> float array: all scalars that the function returns."""
    run = EVALUATORS[request.param]

    def call(function, *vectors):
        return run(function, tuple(np.asarray(v, dtype=float) for v in vectors))

    return call
