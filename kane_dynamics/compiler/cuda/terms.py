# SPDX-License-Identifier: Apache-2.0
"""Terms of the dynamics of a robot on a graphics card, gravity and payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from kane_dynamics.compiler.compiled import CompiledRobot
from kane_dynamics.compiler.cuda.compiler import Usage
from kane_dynamics.compiler.cuda.device import Array, Device
from kane_dynamics.compiler.cuda.gpu_kernels import GpuKernels, OnCpu
from kane_dynamics.compiler.cuda.loads import Loads
from kane_dynamics.compiler.cuda.steps import CardSteps
from kane_dynamics.compiler.graphs import frames as frame_graphs
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law
from kane_dynamics.robot.gravity_and_payloads import POINT
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


class GpuTerms:
    """
    What a robot on a card is under, and its terms; see `robot.CudaRobot`.

    Parameters
    ----------
    recipe : Recipe
        Robot, constraints, frames, payloads.
    load : Parameters
        Present gravity and payloads.
    device : Device
        The card.
    precision : str
        'float32' or 'float64'.
    on_cpu : callable
        Gives the same robot for the processor.
    law : Law, optional
        Of the time steps.

    """

    def __init__(
        self,
        recipe: Recipe,
        load: Parameters,
        device: Device,
        precision: str,
        on_cpu: OnCpu,
        law: Law | None = None,
    ) -> None:
        self.constraints, self.frames = recipe.constraints, recipe.frames
        self.precision, self._load = precision, load
        self.device = device
        self._on = GpuKernels(recipe, load, device, precision, on_cpu, law)

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._load.robot

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows."""
        return self.constraints.labels

    @property
    def on_cpu(self) -> CompiledRobot:
        """Return the same robot for the processor, in double precision."""
        return self._on.cpu

    @property
    def fallback_count(self) -> int:
        """Return how many states the processor redid, because the card was not sure of them."""
        return self._on.fallback_count

    @property
    def usage(self) -> dict[str, Usage]:
        """Return registers, spills and size of code of the kernels that were called so far."""
        return self._on.usage

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of the kernels that were called so far."""
        return self._on.instructions

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the gravity acceleration; see `Dynamics.set_gravity`."""
        self._load.set_gravity(vector)
        self._on.update()

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """Set what a frame carries; see `Dynamics.set_payload`."""
        self._load.set_payload(frame, mass, com, inertia)
        self._on.update()

    def loads(
        self,
        gravity: ArrayLike | None = None,
        payloads: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    ) -> Loads:
        """
        Return gravity and payloads of many states, for the argument `loads`.

        Parameters
        ----------
        gravity : array_like, shape (B, 3), optional
            [m/s^2]; the present one where left out.
        payloads : mapping, optional
            By frame: 'mass' (B,), 'center_of_mass' (B, 3), 'inertia' (B, 3, 3) about it; those
            of other frames are the present ones.

        """
        return self._on.loads(gravity, payloads)

    def steps(self, integrator: str, projection: bool) -> CardSteps:
        """Return the code of rollouts, which `kane_dynamics.rollout` runs."""
        return self._on.steps(integrator, projection)

    def rollout_parameters(self, loads: Loads | None, gains: Floats | None) -> Array:
        """Return what the code of rollouts reads, (P,) or (B, P)."""
        return self._on.rollout_parameters(loads, gains)

    def inverse_dynamics(
        self, q: Any, v: Any, a: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return the efforts that produce `a`, friction and armature included, (B, nv)."""
        return self._on.plain(Tracer.inverse_dynamics, (q, v, a), loads, out)

    def bias_force(
        self, q: Any, v: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return C v + g, (B, nv)."""
        return self._on.plain(Tracer.bias_force, (q, v), loads, out)

    def gravity_force(
        self, q: Any, *, loads: Loads | None = None, out: Array | None = None
    ) -> Array:
        """Return g, (B, nv)."""
        return self._on.plain(Tracer.gravity_force, (q,), loads, out)

    def mass_matrix(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return M, (B, nv, nv)."""
        return self._on.plain(Tracer.mass_matrix, (q,), loads)

    def coriolis_matrix(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return C, (B, nv, nv)."""
        return self._on.plain(Tracer.coriolis_matrix, (q, v), loads)

    def kinetic_energy(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return T, (B,)."""
        return self._on.plain(Tracer.kinetic_energy, (q, v), loads)

    def potential_energy(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return V, (B,)."""
        return self._on.plain(Tracer.potential_energy, (q,), loads)

    def frame_poses(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return positions and quaternions (w, x, y, z) of `frames`, (B, n, 7)."""
        return self._on.plain(Tracer.frame_poses, (q,), loads)

    def center_of_mass(self, q: Any, *, loads: Loads | None = None) -> Array:
        """Return the centre of mass, (B, 3)."""
        return self._on.plain(frame_graphs.center_of_mass, (q,), loads)

    def momentum(self, q: Any, v: Any, *, loads: Loads | None = None) -> Array:
        """Return angular momentum about the centre of mass, then linear momentum, (B, 6)."""
        return self._on.plain(frame_graphs.momentum, (q, v), loads)
