# SPDX-License-Identifier: Apache-2.0
"""One kernel alone, as machine code."""

from dataclasses import replace

import numpy as np

from kane_dynamics.compiler.build import shape_of
from kane_dynamics.compiler.kernel import NO_PARAMETERS, Kernel
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, compile_object


def not_a_number(*_):
    """Stand for a reference that has no answer."""
    return np.nan


def compiled_kernel(spec, names, reference=not_a_number, single=None, parameters=NO_PARAMETERS):
    """Return a kernel, with batches in single precision where there is a spec of them."""

    def batches():
        code = compile_object(batch_ir(spec, single))
        return replace(shape_of(spec), code=code, single=single is not None)

    cached = replace(shape_of(spec), code=compile_object(kernel_ir(spec)))
    return Kernel(
        spec.name,
        cached,
        names,
        reference,
        Linker(),
        parameters,
        batches=batches,
        in_single=single is not None,
    )
