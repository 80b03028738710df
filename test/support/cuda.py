# SPDX-License-Identifier: Apache-2.0
"""Kernels for GPUs on the processor, for tests; and an assembler for them."""

import dataclasses
import functools

import casadi as ca
import numpy as np
import pytest

from kane_dynamics.compiler.build import shape_of
from kane_dynamics.compiler.cuda.device import PtxCompiler
from kane_dynamics.compiler.cuda.kernel import CudaKernel, kernel_code
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS, kernel_ir
from kane_dynamics.compiler.cuda.robot import CudaDynamics
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.recipe import INPUTS, Recipe
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import DeviceError
from studies.cuda import ptxas
from studies.cuda.host import HostDevice


@functools.cache
def device():
    """Return the processor in place of a GPU."""
    return HostDevice()


def assembled(made_of, graph, precision, architecture, *choices):
    """Return what a kernel takes of a GPU; a test that asks is skipped without an assembler."""
    assembler()
    code = kernel_code(made_of, graph, choices, PtxCompiler(), precision)
    return ptxas.assembled(code.code, architecture)


@functools.cache
def assembler():
    """Return the version of the assembler; a test that asks is skipped without it."""
    try:
        return ptxas.version()
    except DeviceError as error:
        pytest.skip(f'PTX IS NOT ASSEMBLED: {error}')


def recipe(robot, constraints=(), payloads=()):
    """Return what kernels are made of."""
    rows = ConstraintSet.of(robot, constraints)
    frames = tuple(body.name for body in robot.bodies)
    return Recipe(robot, rows, row_plan(rows), frames, tuple(payloads), True)


def kernel(made_of, graph, precision, *choices):
    """Return the kernel of a graph on the processor."""
    code, name = kernel_code(made_of, graph, choices, device(), precision), graph.__name__
    made = CudaKernel(name, code, INPUTS[name], device(), precision)
    return functools.partial(made, redo=None), made


def function_spec(x, results):
    """Return what is compiled of an expression in one vector."""
    function = ca.Function('function', [x, ca.SX(0, 1)], [ca.densify(results), ca.SX(1.0)])
    return KernelSpec('function', (x.numel(),), ((results.numel(),),), function)


def function_kernel(x, results, precision):
    """Return a kernel (x,) -> results of an expression in one vector."""
    spec = function_spec(x, results)
    code = device().compile(kernel_ir(spec, ELEMENTS[precision]))
    shape = dataclasses.replace(shape_of(spec), code=code)
    nothing = np.full(results.numel(), np.nan)
    made = CudaKernel(spec.name, shape, ('x',), device(), precision)
    return functools.partial(
        made, parameters=np.zeros(0, precision), redo=lambda states, rows: nothing
    )


def robot(tree, constraints=(), payloads=(), precision='float64', law=None):
    """Return the dynamics of a robot on the processor in place of a card."""
    made_of = recipe(tree, constraints, payloads)
    return CudaDynamics(dataclasses.replace(made_of, precision=precision, law=law), device())
