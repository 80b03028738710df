# SPDX-License-Identifier: Apache-2.0
"""CUDA C on the processor, for tests; and what it needs."""

import dataclasses
import functools

import casadi as ca
import numpy as np
import pytest

from kane_dynamics.compiler.compile_robot import on_gpu
from kane_dynamics.compiler.cuda.compiler import NVRTC
from kane_dynamics.compiler.cuda.host import HostDevice
from kane_dynamics.compiler.cuda.kernel import CudaKernel
from kane_dynamics.compiler.cuda.toolchain import cuda_code, spec_code
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.kernel_names import INPUTS
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import DeviceError


@functools.cache
def device():
    """Return the processor in place of a card; a test that asks is skipped without a compiler."""
    try:
        return HostDevice()
    except DeviceError as error:
        pytest.skip(f'GENERATED CUDA CODE IS NOT TESTED: {error}')


@functools.cache
def nvrtc():
    """Return NVRTC; a test that asks is skipped without it."""
    try:
        return NVRTC()
    except DeviceError as error:
        pytest.skip(f'CODE FOR GRAPHICS CARDS IS NOT TESTED: {error}')


def recipe(robot, constraints=(), payloads=()):
    """Return what kernels are made of."""
    rows = ConstraintSet.of(robot, constraints)
    frames = tuple(body.name for body in robot.bodies)
    return Recipe(robot, rows, row_plan(rows), frames, tuple(payloads), True)


def kernel(made_of, graph, precision, *choices):
    """Return the kernel of a graph on the processor."""
    code = cuda_code(made_of, graph, choices, device(), precision)
    made = CudaKernel(code, INPUTS[graph.__name__], device(), precision)
    return functools.partial(made, redo=None), made


def function_spec(x, results):
    """Return what is compiled of an expression in one vector."""
    function = ca.Function('function', [x, ca.SX(0, 1)], [ca.densify(results), ca.SX(1.0)])
    return KernelSpec('function', function, (x.numel(),), ((results.numel(),),))


def function_kernel(x, results, precision):
    """Return a kernel (x,) -> results of an expression in one vector."""
    code = spec_code(function_spec(x, results), device(), precision)
    nothing = np.full(results.numel(), np.nan)
    made = CudaKernel(code, ('x',), device(), precision)
    return functools.partial(
        made, parameters=np.zeros(0, precision), redo=lambda states, rows: nothing
    )


def robot(tree, constraints=(), payloads=(), precision='float64', law=None):
    """Return the dynamics of a robot on the processor in place of a card."""
    made_of = dataclasses.replace(recipe(tree, constraints, payloads), precision=precision)
    return on_gpu(made_of, law, device(), lambda *_: None)
