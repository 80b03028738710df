# SPDX-License-Identifier: Apache-2.0
"""
From LLVM IR to functions that Python calls, by llvmlite (Numba's compiler back end).

`compile_object` makes machine code for this processor; `NativeModule` loads such code and gives
its functions; `make_entry` wraps one as a builtin function whose call costs tens of nanoseconds.
"""

import ctypes
import importlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from kane_dynamics.compiler.llvm.entry_code import TABLE
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.llvm_calls import LlvmCall, drop_later, in_llvm
from kane_dynamics.compiler.llvm.module import Spec, module_text, single_text
from kane_dynamics.compiler.llvm.older_llvm import for_older_llvm
from kane_dynamics.exceptions import MissingPackageError
from kane_dynamics.typing import Floats

if not hasattr(llvm, 'create_lljit_compiler'):
    raise MissingPackageError(
        'machine code',
        'llvmlite >= 0.41',
        f'there is {llvmlite.__version__}: python3 -m pip install --upgrade llvmlite',
    )
IS_OLDER = llvm.llvm_version_info < (16,)  # llvmlite < 0.45

OBJECT_HEADER = object.__basicsize__
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
# the interpreter's functions that entries call; 3.10 has the last one in its headers only
_CALLED = {
    'increment_reference': 'Py_IncRef',
    'decrement_reference': 'Py_DecRef',
    'call': 'PyObject_Vectorcall',
}
# code models of LLVM: how far away what is called may be
_IN_THIS_PROCESS, _IN_A_LIBRARY = 'jitdefault', 'default'
_ARRAY_NEW_INDEX = 93  # PyArray_New in numpy's C API table, fixed by its ABI


class Processor(NamedTuple):
    """What machine code depends on, as LLVM writes it."""

    triple: str
    name: str
    features: str


@cache
def processor() -> Processor:
    """Return the processor of this machine."""
    return in_llvm(_host)


def _host() -> Processor:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = str(llvm.get_host_cpu_features().flatten())
    return Processor(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def vector_lanes() -> int:
    """Return how many doubles a vector register of this processor holds."""
    features = set(processor().features.split(','))
    return 8 if '+avx512f' in features else 4 if '+avx2' in features else 2


def kernel_ir(spec: Spec, single: KernelSpec | None = None) -> str:
    """Return the LLVM IR of a kernel for this interpreter and processor."""
    lanes = vector_lanes()
    more = [] if single is None else single_text(single, 2 * lanes)
    return module_text(spec, lanes, OBJECT_HEADER, more)


def compile_object(ir: str) -> bytes:
    """Return the machine code of a module as an object file for this processor."""
    return start_compiling(ir).result()


def start_compiling(ir: str, target: Processor | None = None) -> LlvmCall[bytes]:
    """Return the call that makes machine code of a module; the GIL is free while LLVM works."""
    if target is None:
        return LlvmCall(_compiled, ir, processor())
    return LlvmCall(_compiled, ir, target, _IN_A_LIBRARY)


def _compiled(ir: str, target: Processor, code_model: str = _IN_THIS_PROCESS) -> bytes:
    text = for_older_llvm(ir) if IS_OLDER else ir
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    machine = _target_machine(target, code_model)
    optimize(module, machine)
    return bytes(machine.emit_object(module))


def optimize(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run LLVM's passes on a module; inside `in_llvm`."""
    # no SLP: minutes on straight-line code; batches have their lanes
    if hasattr(llvm, 'create_pass_builder'):
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.slp_vectorization = False
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
    else:  # llvmlite < 0.44
        older_options = llvm.create_pass_manager_builder()
        older_options.opt_level = 2
        older_passes = llvm.create_module_pass_manager()
        machine.add_analysis_passes(older_passes)
        older_options.populate(older_passes)
        older_passes.run(module)


def _target_machine(target: Processor, code_model: str = _IN_THIS_PROCESS) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.name,
        features=target.features,
        opt=2,
        reloc='pic',
        codemodel=code_model,
        jit=code_model == _IN_THIS_PROCESS,
    )


_COUNTER = count()  # a linker wants a new name for each library


def _started(target: Processor) -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_target_machine(target))


def _linked(
    code: Sequence[bytes], names: Sequence[str], linker: llvm.LLJIT
) -> llvm.ResourceTracker:
    library = llvm.JITLibraryBuilder()
    for one in code:
        library.add_object_img(one)
    library.add_current_process()
    for name in names:
        library.export_symbol(name)
    return library.link(linker, f'kane_dynamics.{next(_COUNTER)}')


class Linker:
    """What loads machine code into memory; one for the modules of a robot, and gone with them."""

    def __init__(self) -> None:
        self._linker = in_llvm(_started, processor())

    def __del__(self, drop_later: Callable[[Any], None] = drop_later) -> None:
        if hasattr(self, '_linker'):
            drop_later(self._linker)

    def load(self, code: Sequence[bytes], names: Sequence[str]) -> llvm.ResourceTracker:
        """Return what keeps machine code in memory and knows the addresses of its functions."""
        return in_llvm(_linked, code, names, self._linker)


class NativeModule:
    """Loaded machine code."""

    def __init__(
        self, code: bytes | Sequence[bytes], names: Sequence[str], linker: Linker
    ) -> None:
        self._linker = linker
        # the tracker keeps the code in memory
        self._tracker = linker.load([code] if isinstance(code, bytes) else code, names)

    def __del__(self, drop_later: Callable[[Any], None] = drop_later) -> None:
        if hasattr(self, '_tracker'):
            drop_later(self._tracker)

    def address(self, name: str) -> int:
        """Return the address of a function that was asked for."""
        return int(self._tracker[name])

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return a function, with ctypes of its result and arguments; it keeps the code loaded."""
        made: Any = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        made.module = self
        function: Callable[..., Any] = made
        return function


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
