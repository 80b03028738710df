# SPDX-License-Identifier: Apache-2.0
"""
Memory for numpy arrays with a guard page behind each, never used again once it is freed.

An access beyond the end of an array, or to one that was freed, ends the process at once. The
allocator is machine code, because numpy calls it where no Python code may run (NEP 49).
"""

import ctypes
from functools import cache

from kane_dynamics.compiler.llvm.entry import numpy_api
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, compile_object

SET_HANDLER_INDEX = 304  # PyDataMem_SetHandler in numpy's C API table, fixed by its ABI
PAGE = 4096

# data end at the guard page: | pages of the data, ending with them | guard |
ALLOCATOR = f"""
declare i8* @mmap(i8*, i64, i32, i32, i32, i64)
declare i32 @mprotect(i8*, i64, i32)

define internal i64 @bytes(i64 %size) {{
  %empty = icmp eq i64 %size, 0
  %one = select i1 %empty, i64 1, i64 %size
  %more = add i64 %one, 7
  %bytes = and i64 %more, -8
  ret i64 %bytes
}}

define internal i64 @pages(i64 %bytes) {{
  %more = add i64 %bytes, {PAGE - 1}
  %pages = and i64 %more, {-PAGE}
  ret i64 %pages
}}

define i8* @guarded_malloc(i8* %context, i64 %size) {{
  %bytes = call i64 @bytes(i64 %size)
  %pages = call i64 @pages(i64 %bytes)
  %total = add i64 %pages, {PAGE}
  %base = call i8* @mmap(i8* null, i64 %total, i32 3, i32 34, i32 -1, i64 0)
  %guard = getelementptr i8, i8* %base, i64 %pages
  %done = call i32 @mprotect(i8* %guard, i64 {PAGE}, i32 0)
  %back = sub i64 0, %bytes
  %data = getelementptr i8, i8* %guard, i64 %back
  ret i8* %data
}}

define i8* @guarded_calloc(i8* %context, i64 %count, i64 %each) {{
  %size = mul i64 %count, %each
  %data = call i8* @guarded_malloc(i8* %context, i64 %size)
  ret i8* %data
}}

define i8* @guarded_realloc(i8* %context, i8* %data, i64 %size) {{
  ret i8* null
}}

define void @guarded_free(i8* %context, i8* %data, i64 %size) {{
  %bytes = call i64 @bytes(i64 %size)
  %pages = call i64 @pages(i64 %bytes)
  %to.base = sub i64 %bytes, %pages
  %base = getelementptr i8, i8* %data, i64 %to.base
  %total = add i64 %pages, {PAGE}
  ; pages nobody may touch over the old ones: MAP_FIXED, MAP_NORESERVE, private, anonymous
  %gone = call i8* @mmap(i8* %base, i64 %total, i32 0, i32 16434, i32 -1, i64 0)
  ret void
}}
"""


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ('ctx', 'malloc', 'calloc', 'realloc', 'free')]


class _Handler(ctypes.Structure):
    _fields_ = [
        ('name', ctypes.c_char * 127),
        ('version', ctypes.c_uint8),
        ('allocator', _Allocator),
    ]


@cache
def _guarding_handler():
    names = ['malloc', 'calloc', 'realloc', 'free']
    code = compile_object(ALLOCATOR)
    module = NativeModule(code, [f'guarded_{name}' for name in names], Linker())
    addresses = [module.address(f'guarded_{name}') for name in names]
    handler = _Handler(b'guarded', 1, _Allocator(None, *addresses))
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name = b'mem_handler'
    return new_capsule(ctypes.addressof(handler), name, None), handler, name, module


def guard_new_arrays():
    """Let numpy give arrays that this thread makes from now on guarded memory."""
    signature = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
    signature(numpy_api()[SET_HANDLER_INDEX])(_guarding_handler()[0])


def forbid(array):
    """End the process at the next access to a guarded array, as if it had been freed."""
    base = array.ctypes.data // PAGE * PAGE
    pages = (array.ctypes.data + array.nbytes - base + PAGE - 1) // PAGE
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    if protect(ctypes.c_void_p(base), ctypes.c_size_t(pages * PAGE), 0) != 0:
        raise OSError(ctypes.get_errno(), 'mprotect')
