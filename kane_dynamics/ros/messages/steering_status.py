# SPDX-License-Identifier: Apache-2.0
"""How well the measured steering angles of a base agree, for the diagnostics."""

from __future__ import annotations

from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.ros.messages.diagnostics import OK, WARN, Status
from kane_dynamics.typing import Floats


def steering_status(base: WheeledBase, q: Floats, tolerance: float) -> Status:
    """Return how far steering angles are from the nearest that agree: WARN beyond a tolerance."""
    result = base.consistent_steering(q)
    values = {f'{wheel} [rad]': f'{x:.4f}' for wheel, x in result.slip_by_wheel().items()}
    if result.distance <= tolerance:
        return Status(OK, f'angles agree to {result.distance:.4f} rad', values)
    wheels = ', '.join(result.slip_by_wheel(tolerance))
    return Status(WARN, f'steering angles disagree by {result.distance:.3f} rad: {wheels}', values)
