# SPDX-License-Identifier: Apache-2.0
"""A kernel's entry as a builtin function of Python, whose call costs tens of nanoseconds."""

import ctypes
import importlib
import inspect
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kane_dynamics.compiler.llvm.native import NativeModule
from kane_dynamics.typing import Floats

# Slots of the table that `entry_code` reads addresses from; see `make_entry`.
TABLE = (
    'array_type',
    'float_type',
    'double_descr',
    'new_array',
    'increment_reference',
    'decrement_reference',
    'call',
    'slow_path',
    'out_keyword',
    'parameters',
)
OBJECT_HEADER = object.__basicsize__
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
# the interpreter's functions that entries call; 3.10 has the last one in its headers only
_CALLED = {
    'increment_reference': 'Py_IncRef',
    'decrement_reference': 'Py_DecRef',
    'call': 'PyObject_Vectorcall',
}
_ARRAY_NEW_INDEX = 93  # PyArray_New in numpy's C API table, fixed by its ABI


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ('name', ctypes.c_char_p),
        ('method', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('doc', ctypes.c_char_p),
    )


class _Table(np.ndarray[Any, np.dtype[np.uint64]]):
    """The addresses an entry needs; owns everything that must outlive the entry."""

    owner: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the object whose method the entry stands for: there it has entries of its own."""
        _, method, *_ = self.owner
        return _itself, (method.__self__,)


def _itself(x: Any) -> Any:
    return x


def entries_supported() -> bool:
    """Return whether this interpreter has the object layout and functions that entries rely on."""
    return (
        sys.implementation.name == 'cpython'
        and not sysconfig.get_config_var('Py_GIL_DISABLED')
        and OBJECT_HEADER == 2 * ctypes.sizeof(ctypes.c_void_p) == 16
        and all(hasattr(ctypes.pythonapi, name) for name in _CALLED.values())
    )


def make_entry(
    module: NativeModule,
    name: str,
    slow_path: Callable[..., Any],
    parameters: Floats,
    method: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return a builtin function for the kernel, with name, signature and docstring of a method."""
    if not entries_supported():
        return slow_path
    keyword = sys.intern('out')
    addresses = {
        'array_type': id(np.ndarray),
        'float_type': id(float),
        'double_descr': id(np.dtype(np.float64)),
        'new_array': numpy_api()[_ARRAY_NEW_INDEX],
        **{slot: _api_address(name) for slot, name in _CALLED.items()},
        'slow_path': id(slow_path),
        'out_keyword': id(keyword),
        'parameters': parameters.ctypes.data,
    }
    table = np.array([addresses[slot] for slot in TABLE], dtype=np.uint64).view(_Table)
    definition = _MethodDefinition(
        (name if method is None else method.__name__).encode(),
        module.address(f'{name}_entry'),
        _METH_FASTCALL_KEYWORDS,
        None if method is None else _text_of(method).encode(),
    )
    table.owner = (module, slow_path, keyword, definition, parameters)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    entry: Callable[..., Any] = create(ctypes.addressof(definition), table, None)
    return entry


def _text_of(method: Callable[..., Any]) -> str:
    """Return what a builtin shows as its signature and docstring: those of a bound method."""
    signature = inspect.signature(method)
    plain = [x.replace(annotation=x.empty) for x in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return f'{method.__name__}($self, {text[1:]}\n--\n\n{inspect.getdoc(method)}'


def _api_address(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


@cache
def numpy_api() -> Any:
    """Return the table of addresses of numpy's C API."""
    core = 'numpy._core' if np.lib.NumpyVersion(np.__version__) >= '2.0.0' else 'numpy.core'
    umath = importlib.import_module(f'{core}._multiarray_umath')

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer = get(umath._ARRAY_API, None)
    return ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))
