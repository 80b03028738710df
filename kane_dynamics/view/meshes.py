# SPDX-License-Identifier: Apache-2.0
"""Mesh files of a URDF: where they are, and their triangles (read by trimesh)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.shapes import Triangles

INSTALL = "pip install 'kane_dynamics[view]'"


def find_mesh(address: str, folder: Path | None) -> Path:
    """
    Return the file of a mesh.

    Parameters
    ----------
    address : str
        Path, file:// or package:// address.
    folder : Path or None
        Folder of the URDF: relative paths begin there, and package://NAME/... is also looked for
        below this folder and those above it, as in a checkout that nobody installed.

    Raises
    ------
    InvalidInputError
        If there is no such file.

    """
    if folder is not None:
        _, scheme, remainder = address.partition('package://')
        for above in (folder, *folder.parents) if scheme else (folder,):
            path = above / (remainder if scheme else address.removeprefix('file://'))
            if path.is_file():
                return path
    return resolve(address, 'mesh')


def read_mesh(path: Path) -> Triangles:
    """
    Return the triangles of a mesh file: STL, OBJ, PLY, glTF; COLLADA with pycollada.

    Raises
    ------
    MissingPackageError
        If trimesh, or what it needs for this kind of file, is not installed.
    InvalidInputError
        If it cannot read the file.

    """
    try:
        trimesh = import_module('trimesh')
    except ImportError as error:
        raise MissingPackageError('reading meshes', 'trimesh', INSTALL) from error
    try:
        mesh = trimesh.load(path, force='mesh')
        return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    except Exception as error:  # no error family: each format's reader raises what it likes
        if 'collada' in str(error):
            raise MissingPackageError(f"'{path}'", 'pycollada', 'pip install pycollada') from error
        raise InvalidInputError(f"mesh '{path}' cannot be read: {error}") from error
