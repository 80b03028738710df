# SPDX-License-Identifier: Apache-2.0
"""What a kernel is before it is machine code."""

from dataclasses import dataclass

import casadi as ca

RCOND_LIMIT = 1e-6  # relative pivots below this go to the reference solve
# Larger states go to the reference: sines of the kernels keep all digits to ten times this.
LARGEST_INPUT = 1e13
# The same in single precision, whose ill and large states go to the double kernel first. Sines
# keep all digits to ten times this, too.
SINGLE_HEALTH_LIMIT = 1e-3
LARGEST_SINGLE_INPUT = 1e4

# Kernels whose methods take more than the inputs and `out`, which then comes by keyword alone.
TAKE_MORE = ('forward_dynamics', 'inverse_dynamics')


@dataclass(frozen=True)
class KernelSpec:
    """A traced function and the shapes of its arrays."""

    name: str  # Name of the kernel
    function: ca.Function  # Inputs dense vectors, `parameters` last where there are any
    input_sizes: tuple[int, ...]  # Length of each input but the parameters
    output_shapes: tuple[tuple[int, ...], ...]  # Shape of each output array but the health
    parameters: int = 0
    clock: bool = False  # Whether the Python entry takes the last input, the time, as a float

    @property
    def operations(self) -> int:
        """Return the number of operations of one call."""
        count: int = self.function.n_instructions()
        return count

    def depends_on(self, k: int) -> bool:
        """Return whether an output depends on input k."""
        inputs = self.function.sx_in()
        outputs = [ca.vec(x) for x in self.function.call(inputs)]
        return bool(ca.depends_on(ca.vertcat(*outputs), inputs[k]))

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Return the number of entries of each output."""
        sizes = []
        for shape in self.output_shapes:
            size = 1
            for length in shape:
                size *= length
            sizes.append(size)
        return tuple(sizes)
