# SPDX-License-Identifier: Apache-2.0
"""
What stands before every kernel: the type ``real``, sines, minima that keep NaN.

The compiler is given the type as ``-DKD_REAL=float`` or ``double``; the text is the same.
"""

from __future__ import annotations

from kane_dynamics.compiler.llvm.kernel_spec import (
    LARGEST_INPUT,
    LARGEST_SINGLE_INPUT,
    RCOND_LIMIT,
    SINGLE_HEALTH_LIMIT,
)
from kane_dynamics.compiler.llvm.sines import SERIES

TYPES = {'float32': 'float', 'float64': 'double'}
HEALTH_LIMITS = {'float32': SINGLE_HEALTH_LIMIT, 'float64': RCOND_LIMIT}
_LARGEST = {'float32': LARGEST_SINGLE_INPUT, 'float64': LARGEST_INPUT}


def words(precision: str) -> dict[str, str]:
    """Return type and limits of a precision, as the compiler is given them."""
    limit, largest = HEALTH_LIMITS[precision], _LARGEST[precision]
    return {
        'KD_REAL': TYPES[precision],
        'KD_HEALTH_LIMIT': f'real({limit!r})',
        'KD_LARGEST': f'real({largest!r})',
    }


def prelude() -> str:
    """Return the text of the helpers."""
    parts = [_HEAD]
    for kind, series in SERIES.items():
        f = 'f' if kind == 'float' else ''
        reduced = [f'  r = fma{f}(-turns, {kind}({part!r}), r);' for part in series.half_pi]
        parts.append(
            _SINCOS.format(
                kind=kind,
                f=f,
                reduction='\n'.join(reduced),
                sine=_horner(kind, f, series.sine),
                cosine=_horner(kind, f, series.cosine),
            )
        )
    return ''.join(parts)


def _horner(kind: str, wide: str, coefficients: tuple[float, ...]) -> str:
    text = f'{kind}({coefficients[-1]!r})'
    for coefficient in coefficients[-2::-1]:
        text = f'fma{wide}({text}, z, {kind}({coefficient!r}))'
    return text


_HEAD = """\
typedef KD_REAL real;
typedef long long kd_index;
#define KD_NAN (real(0) / real(0))
#define KD_INFINITY (real(1) / real(0))

__device__ inline real kd_minimum(real a, real b) {
  return a != a ? a : (b < a || b != b ? b : a);
}
__device__ inline real kd_maximum(real a, real b) {
  return a != a ? a : (b > a || b != b ? b : a);
}

"""

# The sum of angle and constant is formed after the reduction of the angle by whole quarter turns:
# that of a large angle and a small constant would lose what the sine needs.
_SINCOS = """\
__device__ inline void kd_sincos({kind} x, {kind} ahead, {kind}* sine, {kind}* cosine) {{
  const {kind} turns = rint{f}((x + ahead) * {kind}(0.6366197723675814));
  {kind} r = x;
{reduction}
  r += ahead;
  const {kind} z = r * r;
  const {kind} s = fma{f}(z * r, {sine}, r);
  const {kind} half = z * {kind}(0.5), near = {kind}(1) - half;
  const {kind} c = near + fma{f}(z * z, {cosine}, {kind}(1) - near - half);
  const int quarter = int(turns - {kind}(4) * floor{f}(turns * {kind}(0.25)));
  const {kind} a = quarter & 1 ? c : s, b = quarter & 1 ? s : c;
  *sine = quarter & 2 ? -a : a;
  *cosine = (quarter + 1) & 2 ? -b : b;
}}

"""
