# SPDX-License-Identifier: Apache-2.0
"""Machine code for a processor that this machine does not have; `make aarch64` runs it."""

import struct

import llvmlite.binding as llvm
import pytest

import kane_dynamics as kd
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm import native
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.llvm.native import in_llvm

CORTEX_A72 = native.Processor('aarch64-unknown-linux-gnu', 'cortex-a72', '')
EM_AARCH64 = 183
LANES = 2  # doubles in a register of NEON


def symbols_of(code):
    """Return machine, defined functions and undefined names of a 64-bit ELF object file."""
    assert code[:6] == b'\x7fELF\x02\x01'  # 64 bits, little endian
    (machine,) = struct.unpack_from('<H', code, 18)
    (sections,) = struct.unpack_from('<Q', code, 40)
    size, count = struct.unpack_from('<HH', code, 58)
    headers = [struct.unpack_from('<IIQQQQIIQQ', code, sections + k * size) for k in range(count)]
    table = next(header for header in headers if header[1] == 2)
    names = headers[table[6]][4]
    defined, undefined = set(), set()
    for place in range(table[4] + 24, table[4] + table[5], 24):  # the first one is empty
        name, info, _, section = struct.unpack_from('<IBBH', code, place)
        text = code[names + name : code.index(b'\0', names + name)].decode()
        if section == 0:
            undefined.add(text)
        elif info & 15 == 2:
            defined.add(text)
    return machine, defined, undefined


@pytest.mark.parametrize('name', ['inverse_dynamics', 'forward_dynamics', 'frame_poses'])
def test_code_for_aarch64(name):
    in_llvm(llvm.initialize_all_targets)
    in_llvm(llvm.initialize_all_asmprinters)
    robot = kd.serial_chain(3)
    graph = graph_of(name)(Tracer(robot, (), (robot.bodies[-1].name,)))
    for text, names, calls in (
        (kernel_ir(graph, lanes=LANES), {name, f'{name}_entry'}, set()),
        (batch_ir(graph, lanes=LANES), {f'{name}_batch'}, {name}),
    ):
        code = in_llvm(native._compiled, text, CORTEX_A72)
        machine, defined, undefined = symbols_of(code)
        assert machine == EM_AARCH64
        assert names <= defined
        assert undefined == calls  # every operation is an instruction: no call of a library
