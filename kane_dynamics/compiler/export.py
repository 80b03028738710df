# SPDX-License-Identifier: Apache-2.0
"""Graphs for other programs: CasADi functions (acados, OCS2, ...) and C code."""

from collections.abc import Sequence
from pathlib import Path

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.compiler.graphs.trace import GRAPHS, Tracer
from kane_dynamics.compiler.recipe import INPUTS
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import as_path
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_frames

_OUTPUT_NAMES = {
    'motion': [
        'acceleration',
        'multipliers',
        'constraint_force',
        'residual',
        'velocity_violation',
        'position_violation',
    ],
    'constraint_rows': ['A', 'b0', 'b', 'Phi'],
}


def casadi_function(
    robot: Robot,
    name: str,
    constraints: Sequence[Constraint] = (),
    frames: Sequence[str] | None = None,
) -> ca.Function:
    """
    Return one of the dynamics functions as a CasADi ``SX`` function, ready to be differentiated.

    Parameters
    ----------
    robot : Robot
        The robot.
    name : str
        'inverse_dynamics' (q, v, a), 'bias_force' (q, v), 'gravity_force' (q), 'mass_matrix' (q),
        'coriolis_matrix' (q, v), 'kinetic_energy' (q, v), 'potential_energy' (q),
        'frame_poses' (q), 'forward_dynamics' (q, v, tau[, time]), or 'motion' with the same inputs
        and outputs acceleration, multipliers, constraint_force, residual, velocity_violation,
        position_violation; or
        'constraint_rows' (q, v, time) with outputs A, b0, b and Phi.
    constraints : sequence of Constraint
        Rows of the forward dynamics; rows that repeat others have the multiplier 0.
    frames : sequence of str, optional
        Links of 'frame_poses'; all bodies where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such function or frame.

    Examples
    --------
    >>> f = kd.casadi_function(kd.serial_chain(2), 'mass_matrix')
    >>> f.name()
    'mass_matrix'

    """
    constraints = ConstraintSet.of(robot, constraints)
    graphs = {graph.__name__: graph for graph in (*GRAPHS, Tracer.constraint_rows)}
    if not isinstance(name, str) or name not in graphs:
        raise NameNotFoundError('function', name, graphs)
    links = checked_frames(robot, frames)
    spec = graphs[name](Tracer(robot, constraints, links))
    inputs = spec.function.sx_in()
    outputs = list(spec.function.call(inputs))[:-1]  # the last is the health of the solves
    names = list(INPUTS[name][: len(inputs)])
    return ca.Function(name, inputs, outputs, names, _OUTPUT_NAMES.get(name, [name]))


def export_c(
    robot: Robot, name: str, folder: str | Path, constraints: Sequence[Constraint] = ()
) -> tuple[Path, Path]:
    """
    Write one of the dynamics functions as plain C with CasADi's calling convention.

    Parameters
    ----------
    robot : Robot
        The robot.
    name : str
        As for `casadi_function`.
    folder : str or Path
        Where NAME.c and NAME.h go; must exist.
    constraints : sequence of Constraint
        Rows of the forward dynamics.

    Returns
    -------
    tuple of Path
        The C file and its header.

    Raises
    ------
    NameNotFoundError
        If there is no such function.
    InvalidInputError
        If there is no such folder, or another argument is wrong.

    """
    function = casadi_function(robot, name, constraints)
    place = Path(as_path('folder', folder))
    if not place.is_dir():
        raise InvalidInputError(f'folder: need one that exists, got {place}')
    generator = ca.CodeGenerator(f'{name}.c', {'with_header': True})
    generator.add(function)
    generator.generate(f'{place}/')
    return place / f'{name}.c', place / f'{name}.h'
