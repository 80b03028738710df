# SPDX-License-Identifier: Apache-2.0
"""One wheel of a mobile base: which joint rolls it, which one steers it, what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wheel:
    """
    A wheel of a mobile base.

    Parameters
    ----------
    joint : str
        Name of the joint that it turns on.
    kind : str
        'fixed' (its axle turns with the base), 'steered' (a motor turns its heading), 'twin'
        (beside a steered wheel, on the same steering axis), 'caster' (it
        swivels freely), 'roller' (omni or mecanum: rollers on its rim) or 'ball'.
    radius : float
        [m].
    steering : str, optional
        Joint that turns its heading, of a steered wheel or a caster.
    driven : bool
        Whether a motor turns it.

    """

    joint: str
    kind: str
    radius: float
    steering: str | None = None
    driven: bool = True
