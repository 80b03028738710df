# SPDX-License-Identifier: Apache-2.0
"""
From LLVM IR to functions that Python calls, by llvmlite (Numba's compiler back end).

`compile_object` makes machine code for this processor; `NativeModule` loads such code and gives
its functions.

Each call of LLVM runs in a thread of its own. llvmlite guards LLVM by a lock in Python code: an
exception that arrives there, such as Ctrl-C, leaves it locked, and the next call from another
thread waits for ever. Signals are handled in the main thread, so LLVM is kept out of it. One
thread at a time is inside LLVM; none while the process forks, or the child would wait for its
locks for ever; and none while it ends, because what ends LLVM does not wait for its threads.
"""

import atexit
import ctypes
import os
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

from kane_dynamics.compiler.llvm.older_llvm import for_older_llvm
from kane_dynamics.exceptions import MissingPackageError

try:
    import llvmlite
    import llvmlite.binding as llvm
except ModuleNotFoundError as error:
    remedy = "pip install 'kane_dynamics[compile]'"
    raise MissingPackageError('machine code', 'llvmlite', remedy) from error
if not hasattr(llvm, 'create_lljit_compiler'):
    raise MissingPackageError(
        'machine code',
        'llvmlite >= 0.41',
        f'there is {llvmlite.__version__}: python3 -m pip install --upgrade llvmlite',
    )
IS_OLDER = llvm.llvm_version_info < (16,)  # llvmlite < 0.45

# code models of LLVM: how far away what is called may be
_IN_THIS_PROCESS, _IN_A_LIBRARY = 'jitdefault', 'default'

T = TypeVar('T')
_inside = threading.RLock()
_to_drop: deque[Any] = deque()  # what the next call lets LLVM dispose of
_ending: list[bool] = []


class LlvmCall(Generic[T]):
    """A call that has been started."""

    def __init__(self, function: Callable[..., T], *arguments: Any) -> None:
        self._function = function
        self._arguments = arguments
        self._outcome: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        self._cancelled = False
        try:
            if _ending:
                raise RuntimeError
            start_new_thread(self._run, ())
        except RuntimeError:  # no thread to be had, or the interpreter is ending
            self._run()

    def result(self) -> T:
        """Wait for the call and return its value, once, or raise what it raised."""
        value, error = self._outcome.get()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def cancel(self) -> None:
        """Leave the call out if LLVM is not at work on it; nothing can stop it there."""
        self._cancelled = True

    def _run(self) -> None:
        with _inside:
            _to_drop.clear()
            try:
                outcome = None if self._cancelled else self._function(*self._arguments), None
            except Exception as error:  # noqa: BLE001 - raised by `result`
                self._outcome.put((None, error))
            else:
                self._outcome.put(outcome)


def in_llvm(function: Callable[..., T], *arguments: Any) -> T:
    """Return the value of a call of LLVM."""
    return LlvmCall(function, *arguments).result()


@atexit.register
def _keep_others_out() -> None:
    _ending.append(True)
    _inside.acquire()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_inside.acquire, after_in_parent=_inside.release, after_in_child=_inside.release
    )


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


def bodies_at_once(width: int) -> int:
    """Return how many bodies share a vector of up to `width` doubles; wider ones gain nothing."""
    return min(width, 4)


def vector_lanes() -> int:
    """Return how many doubles a vector register of this processor holds."""
    features = set(processor().features.split(','))
    return 8 if '+avx512f' in features else 4 if '+avx2' in features else 2


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
    # level 2 takes longer, and makes straight-line code no faster;
    # no SLP: minutes on straight-line code; batches have their lanes
    if hasattr(llvm, 'create_pass_builder'):
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        options.slp_vectorization = False
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
    else:  # llvmlite < 0.44
        older_options = llvm.create_pass_manager_builder()
        older_options.opt_level = 1
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

    def __del__(self, drop_later: Callable[[Any], None] = _to_drop.append) -> None:
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

    def __del__(self, drop_later: Callable[[Any], None] = _to_drop.append) -> None:
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
