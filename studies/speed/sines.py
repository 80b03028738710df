# SPDX-License-Identifier: Apache-2.0
"""
Error of the kernels' sine and cosine against mpmath; run as ``python -m studies.speed.sines``.

In units in the last place of the true value, and relative to 1, which is what rotations see.
"""

from __future__ import annotations

import casadi as ca
import mpmath
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.kernel import Kernel
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, compile_object

RANGES = (np.pi / 4, 10.0, 1e3, 1e6, 1e9, 1e12)  # largest |angle| [rad]
SAMPLES = 20_000
_DIGITS = 50


def sine_and_cosine() -> Kernel:
    """Return x -> (sin x, cos x) as kernels compute them."""
    x = ca.SX.sym('x')
    function = ca.Function('pair', [x], [ca.vertcat(ca.sin(x), ca.cos(x)), ca.SX(1.0)])
    spec = KernelSpec('pair', (1,), ((2,),), function)
    cached = CachedKernel(compile_object(kernel_ir(spec)), (1,), ((2,),), 0)
    return Kernel('pair', cached, ('x',), lambda x: np.nan, Linker(), batches=lambda: cached)


def errors(kernel: Kernel, angles: NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest error in units in the last place, and relative to 1."""
    found = np.array([kernel.call(x) for x in angles[:, None]])
    ulps, absolute = 0.0, 0.0
    with mpmath.workdps(_DIGITS):
        for angle, pair in zip(angles.tolist(), found.tolist(), strict=True):
            for value, exact in zip(pair, (mpmath.sin(angle), mpmath.cos(angle)), strict=True):
                error = abs(float(value - exact))
                ulps = max(ulps, error / float(np.spacing(abs(float(exact)))))
                absolute = max(absolute, error)
    return ulps, absolute


def main() -> None:
    """Print the errors over ranges of angles, multiples of pi/2 included."""
    kernel, rng = sine_and_cosine(), np.random.default_rng(0)
    table = Table(title='sine and cosine in kernels')
    for name in ('largest |angle| [rad]', 'error [ulp]', 'error [absolute]'):
        table.add_column(name, justify='right')
    for largest in RANGES:
        quarter_turns = np.pi / 2 * np.round(rng.uniform(0.0, largest, 2000) / (np.pi / 2))
        angles = np.concatenate([rng.uniform(-largest, largest, SAMPLES), quarter_turns])
        ulps, absolute = errors(kernel, angles)
        table.add_row(f'{largest:.3g}', f'{ulps:.3g}', f'{absolute:.1e}')
    Console(width=100).print(table)


if __name__ == '__main__':
    main()
