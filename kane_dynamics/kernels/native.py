# SPDX-License-Identifier: Apache-2.0
"""
From LLVM IR to functions that Python calls, by llvmlite (Numba's compiler back end).

`compile_object` makes machine code for this processor; `NativeModule` loads such code and gives
its functions; `make_entry` wraps one as a builtin function whose call costs tens of nanoseconds.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count, pairwise
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from kane_dynamics.kernels.module import TABLE, KernelSpec, module_text

OBJECT_HEADER = object.__basicsize__
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_ARRAY_NEW_INDEX = 93  # PyArray_New in numpy's C API table, fixed by its ABI


@cache
def _target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


def _target_machine() -> llvm.TargetMachine:
    return _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=cpu_features(), opt=2, reloc='pic', jit=True
    )


@cache
def cpu_features() -> str:
    """Return the instruction sets of this processor, as LLVM writes them."""
    _target()
    return str(llvm.get_host_cpu_features().flatten())


def processor() -> str:
    """Return what machine code depends on: triple, processor and its instruction sets."""
    return f'{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {cpu_features()}'


def vector_lanes() -> int:
    """Return how many doubles a vector register of this processor holds."""
    features = set(cpu_features().split(','))
    return 8 if '+avx512f' in features else 4 if '+avx2' in features else 2


def kernel_ir(spec: KernelSpec) -> str:
    """Return the LLVM IR of a kernel for this interpreter and processor."""
    return module_text(spec, vector_lanes(), OBJECT_HEADER)


def compile_object(ir: str) -> bytes:
    """Return the machine code of a module as an object file; the GIL is free while LLVM works."""
    module = llvm.parse_assembly(ir, llvm.create_context())
    module.verify()
    machine = _target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = False  # minutes on straight-line code; batches have their lanes
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


_COUNTER = count()  # the linker wants a new name for each library


@cache
def _linker() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_target_machine())


class NativeModule:
    """
    Loaded machine code.

    Parameters
    ----------
    code : bytes
        An object file of `compile_object` for this processor.
    names : sequence of str
        Its functions that will be asked for.

    """

    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            library.export_symbol(name)
        # the tracker keeps the code in memory
        self._tracker = library.link(_linker(), f'kane_dynamics.{next(_COUNTER)}')

    def address(self, name: str) -> int:
        """Return the address of a function that was asked for."""
        return int(self._tracker[name])


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


def entries_supported() -> bool:
    """Return whether this interpreter has the object layout that entries rely on."""
    return (
        sys.implementation.name == 'cpython'
        and not sysconfig.get_config_var('Py_GIL_DISABLED')
        and OBJECT_HEADER == 2 * ctypes.sizeof(ctypes.c_void_p) == 16
    )


def make_entry(
    module: NativeModule, name: str, slow_path: Callable[..., Any]
) -> Callable[..., Any]:
    """
    Return a builtin function for the kernel.

    Calls with float64 arrays of the exact shapes run at once; all others, and states whose solve
    is ill conditioned, go to `slow_path` with the same arguments.
    """
    if not entries_supported():
        return slow_path
    keyword = sys.intern('out')
    addresses = {
        'array_type': id(np.ndarray),
        'double_descr': id(np.dtype(np.float64)),
        'new_array': _numpy_api()[_ARRAY_NEW_INDEX],
        'increment_reference': _api_address('Py_IncRef'),
        'decrement_reference': _api_address('Py_DecRef'),
        'call': _api_address('PyObject_Vectorcall'),
        'slow_path': id(slow_path),
        'out_keyword': id(keyword),
    }
    table = np.array([addresses[slot] for slot in TABLE], dtype=np.uint64).view(_Table)
    definition = _MethodDefinition(
        name.encode(), module.address(f'{name}_entry'), _METH_FASTCALL_KEYWORDS, None
    )
    table.owner = (module, slow_path, keyword, definition)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    entry: Callable[..., Any] = create(ctypes.addressof(definition), table, None)
    return entry


def _api_address(name: str) -> int:
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    if address is None:
        raise LookupError(f'the interpreter has no function {name!r}')
    return address


@cache
def _numpy_api() -> Any:
    core = 'numpy._core' if np.lib.NumpyVersion(np.__version__) >= '2.0.0' else 'numpy.core'
    umath = importlib.import_module(f'{core}._multiarray_umath')

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer = get(umath._ARRAY_API, None)
    return ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix='kane_dynamics')


if hasattr(os, 'register_at_fork'):  # threads do not live on in the child
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_batch(
    address: int, arrays: Sequence[NDArray[np.float64]], health: NDArray[np.float64]
) -> None:
    """
    Run a batch function over all states, on all cores this process may use.

    Parameters
    ----------
    address : int
        Of ``NAME_batch``.
    arrays : sequence of ndarray
        Inputs, then outputs, C-contiguous float64 with one row for each state.
    health : ndarray, shape (B,)
        Written.

    """
    states = len(health)
    function = ctypes.CFUNCTYPE(
        None, *[ctypes.c_void_p] * (len(arrays) + 1), ctypes.c_int64, ctypes.c_int64
    )(address)
    pointers = [array.ctypes.data for array in arrays] + [health.ctypes.data]
    workers = min(available_cores(), max(1, states // _STATES_PER_TASK))
    if workers == 1:
        function(*pointers, 0, states)
        return
    # several tasks for each core: cores do not always run equally fast
    edges = np.linspace(0, states // 8, 4 * workers + 1).astype(int) * 8
    edges[-1] = states
    tasks = [
        _pool(available_cores()).submit(function, *pointers, int(a), int(b))
        for a, b in pairwise(edges)
    ]
    for task in tasks:
        task.result()


_STATES_PER_TASK = 512  # below it a second thread costs more than it saves


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
