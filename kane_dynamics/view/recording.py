# SPDX-License-Identifier: Apache-2.0
"""A motion with everything that is needed to show it: one file of named arrays (npz)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, shorten
from kane_dynamics.robot.checks import as_path
from kane_dynamics.typing import Floats, NDArray
from kane_dynamics.view.drawing import Shape
from kane_dynamics.view.forces import STATES

__all__ = ['Recording', 'load_recording']

LARGEST = 2**32  # bytes of a recording, unpacked
FORMAT = 'kane_dynamics recording 1'


@dataclass(frozen=True, eq=False)
class Recording:
    """
    A recorded motion. Made by a `Recorder`, or read from a file by `load_recording`.

    Parameters
    ----------
    name : str
        Of the robot.
    time : ndarray, shape (n,)
        [s], never falling; the states before and after an event have the same time.
    coordinate_names, velocity_names, body_names : tuple of str
        Labels.
    q, v : ndarray, shapes (n, nq), (n, nv)
        States.
    poses : ndarray, shape (n, b, 7)
        Position [m] and (w, x, y, z) of each body in the world.
    shapes : tuple of Shape
        What the robot looks like.
    force_names, force_units : tuple of str, length k
        Constraint rows; 'N' or 'N m'.
    force_points, force_vectors : ndarray, shape (n, k, 3)
        Where forces act [m], and the force or couple on the robot, in world axes.
    force_states : ndarray of int, shape (n, k)
        Index in STATES.
    event_times, event_texts : ndarray, shape (m,), tuple of str
        When [s] something happened, and what.

    Raises
    ------
    InvalidInputError
        If lengths do not agree, a number is not finite, or time falls.

    """

    name: str
    time: Floats
    coordinate_names: tuple[str, ...]
    q: Floats
    velocity_names: tuple[str, ...]
    v: Floats
    body_names: tuple[str, ...]
    poses: Floats
    shapes: tuple[Shape, ...]
    force_names: tuple[str, ...]
    force_units: tuple[str, ...]
    force_points: Floats
    force_vectors: Floats
    force_states: NDArray[np.int8]
    event_times: Floats
    event_texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.time.ndim != 1:
            raise InvalidInputError(f'recording: time must be a list, got shape {self.time.shape}')
        n, k, b = len(self.time), len(self.force_names), len(self.body_names)
        needed = {
            'time': (n,),
            'q': (n, len(self.coordinate_names)),
            'v': (n, len(self.velocity_names)),
            'poses': (n, b, 7),
            'force_points': (n, k, 3),
            'force_vectors': (n, k, 3),
            'force_states': (n, k),
            'event_times': (len(self.event_texts),),
        }
        for field, shape in needed.items():
            array = getattr(self, field)
            of_numbers = array.dtype.kind in 'fiu' and np.isfinite(array).all()
            if array.shape != shape or not of_numbers:
                raise InvalidInputError(
                    f'recording: {field} must be finite, of shape {shape}; it is {array.dtype} '
                    f'of shape {array.shape}'
                )
        if n == 0 or (np.diff(self.time) < 0.0).any():
            raise InvalidInputError('recording: time must not fall, and have one instant or more')
        bodies = [shape.body for shape in self.shapes]
        states = self.force_states.ravel().tolist()
        if not {*bodies} <= {*range(-1, b)} or not {*states} <= {*range(len(STATES))}:
            raise InvalidInputError('recording: a shape has no body, or a force no known state')
        if len(self.force_units) != k:
            raise InvalidInputError(f'recording: need {k} force_units, got {self.force_units}')

    def at(self, time: float) -> int:
        """Return the index of the last instant that is not after a time [s]."""
        return max(int(np.searchsorted(self.time, time, side='right')) - 1, 0)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """
        Write the recording; read it with `load_recording`.

        Parameters
        ----------
        path : str or path
            File; .npz is added where it is missing.

        Raises
        ------
        InvalidInputError
            If it cannot be written.

        """
        file = Path(as_path('path', path))
        if not file.name:
            raise InvalidInputError(f"recording '{file}' cannot be written: it is a folder")
        file = file.with_name(f'{file.name.removesuffix(".npz")}.npz')
        arrays: dict[str, Any] = {name: np.array(getattr(self, name)) for name in _plain_fields()}
        arrays['shape_bodies'] = np.array([shape.body for shape in self.shapes], dtype=np.int64)
        arrays['shape_colours'] = np.array([s.colour for s in self.shapes], float).reshape(-1, 3)
        for k, shape in enumerate(self.shapes):
            arrays[f'shape_{k}_vertices'] = np.asarray(shape.vertices, dtype=np.float32)
            arrays[f'shape_{k}_faces'] = np.asarray(shape.faces, dtype=np.int32)
        try:
            np.savez_compressed(file, format=FORMAT, **arrays)
        except OSError as error:
            raise InvalidInputError(f"recording '{file}' cannot be written: {error}") from error
        return file


def load_recording(path: str | os.PathLike[str]) -> Recording:
    """
    Return a recording from its file.

    Parameters
    ----------
    path : str or path
        A .npz that `Recording.save` wrote.

    Raises
    ------
    InvalidInputError
        If there is no such file, or it is no recording.

    """
    file = as_path('path', path)
    content = _arrays(file)
    needed = ('format', *_plain_fields(), 'shape_bodies', 'shape_colours')
    missing = [name for name in needed if name not in content]
    if missing or str(content['format']) != FORMAT:
        result = shorten(str(content.get('format', 'none')))
        raise InvalidInputError(
            f"'{file}' is no recording: need format '{FORMAT}', found {result}; missing {missing}"
        )
    try:
        arrays = {name: _field(name, content[name]) for name in _plain_fields()}
        return Recording(**arrays, shapes=_shapes(content))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"recording '{file}' cannot be read: {error}") from error


def _plain_fields() -> list[str]:
    return [field.name for field in fields(Recording) if field.name != 'shapes']


def _arrays(file: str) -> dict[str, NDArray]:
    """Return what an npz holds; nothing is unpickled, nor unpacked beyond `LARGEST`."""
    try:
        with ZipFile(file) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > LARGEST:
            raise ValueError(f'{size} bytes unpacked, at most {LARGEST} are read')
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if other := [name for name, x in arrays.items() if not isinstance(x, np.ndarray)]:
            raise ValueError(f'{other} are no arrays')
        return arrays
    except Exception as error:  # zipfile, zlib and numpy have no error family
        raise InvalidInputError(
            f"recording '{file}' cannot be read: {str(error)[:300]}"
        ) from error


def _field(name: str, value: NDArray) -> Any:
    """Return an array, or text where a field is text."""
    if name == 'name':
        return str(value)
    if not name.endswith(('names', 'units', 'texts')):
        return value
    if value.ndim != 1 or (value.size and value.dtype.kind != 'U'):
        raise InvalidInputError(f'{name} must be a list of texts, got {value.dtype}')
    return tuple(map(str, value.tolist()))  # an empty list has no type of its own


def _shapes(content: Mapping[str, NDArray]) -> tuple[Shape, ...]:
    bodies = content['shape_bodies'].astype(np.int64, casting='safe').tolist()
    return tuple(
        Shape(body, content[f'shape_{k}_vertices'], content[f'shape_{k}_faces'], tuple(colour))
        for k, (body, colour) in enumerate(zip(bodies, content['shape_colours'], strict=True))
    )
