# SPDX-License-Identifier: Apache-2.0
"""Terms of the dynamics of a robot on a GPU."""

from __future__ import annotations

from typing import Any

from kane_dynamics.compiler.cuda.device import Array
from kane_dynamics.compiler.cuda.gpu_kernels import GpuKernels
from kane_dynamics.compiler.cuda.loads import Loads
from kane_dynamics.compiler.graphs import frames as frame_graphs
from kane_dynamics.compiler.graphs.trace import Tracer


class GpuTerms(GpuKernels):
    """The terms of a robot on a GPU; see `robot.CudaRobot`."""

    def inverse_dynamics(
        self, q: Any, v: Any, a: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return the efforts that produce `a`, friction and armature included, (B, nv)."""
        return self._plain(Tracer.inverse_dynamics, (q, v, a), loads, out)

    def bias_force(
        self, q: Any, v: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return C v + g, (B, nv)."""
        return self._plain(Tracer.bias_force, (q, v), loads, out)

    def gravity_force(
        self, q: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return g, (B, nv)."""
        return self._plain(Tracer.gravity_force, (q,), loads, out)

    def mass_matrix(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return M, (B, nv, nv)."""
        return self._plain(Tracer.mass_matrix, (q,), loads)

    def coriolis_matrix(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return C, (B, nv, nv)."""
        return self._plain(Tracer.coriolis_matrix, (q, v), loads)

    def kinetic_energy(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return T, (B,)."""
        return self._plain(Tracer.kinetic_energy, (q, v), loads)

    def potential_energy(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return V, (B,)."""
        return self._plain(Tracer.potential_energy, (q,), loads)

    def frame_poses(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return positions and quaternions (w, x, y, z) of `frames`, (B, n, 7)."""
        return self._plain(Tracer.frame_poses, (q,), loads)

    def center_of_mass(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return the centre of mass, (B, 3)."""
        return self._plain(frame_graphs.center_of_mass, (q,), loads)

    def momentum(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return angular momentum about the centre of mass, then linear momentum, (B, 6)."""
        return self._plain(frame_graphs.momentum, (q, v), loads)
