# SPDX-License-Identifier: Apache-2.0
"""Machine code from the cache; what is not there is built."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.recipe import (
    FORWARD,
    OUTSIDE,
    STEPS,
    Kernels,
    Progress,
    Recipe,
    silent,
)


@dataclass(frozen=True)
class Build:
    """Machine code of a robot's kernels and where it came from."""

    kernels: Kernels  # By name
    source: str  # 'cache' or 'compiled'
    note: str  # What the cache said
    recipe: Recipe  # What more of it can be made of

    def linked(self, name: str, code: bytes) -> list[bytes]:
        """Return code of a kernel, or of steps, with that of the kernels which it may call."""
        others = [x for x in OUTSIDE if x in self.kernels and name in (STEPS, FORWARD)]
        return [code, *(self.kernels[x].code for x in others)]


def _builder() -> Any:
    """Return what traces and compiles, with CasADi: code from the cache needs neither."""
    from kane_dynamics.compiler import build

    return build


def load_kernels(recipe: Recipe, progress: Progress = silent) -> Build:
    """Return the kernels that are compiled with a robot."""
    choices = recipe.derivatives, recipe.methods
    made = recipe.cached(choices, lambda: _builder().compile_kernels(recipe, progress))
    return Build(*made, recipe)


def load_kernel(recipe: Recipe, name: str, choices: Sequence[Any] = ()) -> CachedKernel:
    """Return a kernel that is compiled on demand."""
    return recipe.cached_kernel(
        name, lambda: _builder().compile_kernel(recipe, name, choices), choices
    )


def load_batches(recipe: Recipe, name: str, choices: Sequence[Any] = ()) -> CachedKernel:
    """Return the batches of a kernel."""
    return recipe.cached_kernel(
        f'{name}_batch', lambda: _builder().compile_batches(recipe, name, choices), choices
    )


def load_switched(recipe: Recipe) -> Kernels:
    """Return the kernels under any set of the constraints."""
    return recipe.cached(('switched',), lambda: _builder().compile_switched(recipe))[0]


def load_steps(recipe: Recipe, integrator: str, projection: bool) -> CachedKernel:
    """Return the module of an integrator."""
    how = integrator, projection
    return recipe.cached_kernel(
        STEPS, lambda: _builder().compile_steps(recipe, *how), *how, recipe.law_content
    )


def load_rollouts(recipe: Recipe, lanes: int, *how: Any) -> CachedKernel:
    """Return the module of motions in vector lanes; how: integrator, projection, precision."""
    return recipe.cached_kernel(
        'rollouts',
        lambda: _builder().compile_rollouts(recipe, *how, lanes),
        *how,
        recipe.law_content,
    )
