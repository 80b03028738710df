# SPDX-License-Identifier: Apache-2.0
"""The C library of a robot, a loader for Python, and the ROS 2 package around them."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import kane_dynamics as kd
from kane_dynamics.algorithms.row_elimination import sparse_rows
from kane_dynamics.compiler.build import compile_modules, tracer_of
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.llvm.kernel_spec import Spec
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT
from kane_dynamics.compiler.llvm.module import core_text
from kane_dynamics.compiler.llvm.native import vector_lanes
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import (
    FORWARD,
    OUTSIDE,
    Progress,
    Recipe,
    silent,
    solved_by_loops,
)
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.control.node_dynamics import known_speeds
from kane_dynamics.deployment.code_generation import (
    Function,
    c_string,
    filled,
    listed,
    quoted,
    supported,
    target_of,
)
from kane_dynamics.deployment.functions import FUNCTIONS, makers, selected_functions
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.robot.body import content_hash
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_frames, checked_payload_frames
from kane_dynamics.robot_config.robot_source import RobotModel

CPP_PACKAGE = Path(__file__).parent / 'kane_dynamics_cpp'
_HEADER = 'kane_dynamics_robot.h'


@dataclass(frozen=True, eq=False)
class Plan:
    """What a library is made of."""

    robot: Robot
    constraints: ConstraintSet
    name: str
    actuated: tuple[str, ...]
    known: tuple[str, ...] | None = None
    frames: tuple[str, ...] = ()
    payloads: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    cpu: str = 'native'
    urdf: str = ''
    commanded: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r'[a-z][a-z0-9_]*', self.name):
            raise InvalidInputError(
                'name: need lower-case letters, digits and underscores, a letter first; got '
                f'{self.name!r}'
            )
        checked_payload_frames(self.robot, self.payloads)

    @property
    def references(self) -> tuple[str, ...]:
        """Return the speeds that `motor_efforts` takes."""
        return self.robot.velocity_names if self.known is None else self.known

    @property
    def motors(self) -> tuple[str, ...]:
        """Return the joints whose efforts a controller commands, in the order of v."""
        motors = self.commanded or self.actuated
        return tuple(name for name in self.robot.velocity_names if name in motors)

    @cached_property
    def rows_bind_motors(self) -> bool:
        """
        Return whether constraint rows decide about efforts of the motors.

        Rows that bind no motor do not, where the motion of all joints before and behind it is a
        reference: the arm of a base that takes a velocity needs nothing of the wheels.
        """
        if not self.constraints:
            return False
        tracer, names = tracer_of(self.recipe()), self.robot.velocity_names
        motors = [names.index(name) for name in self.motors]
        unknown = [k for k, name in enumerate(names) if name not in self.references]
        bound = any(k in row for row in sparse_rows(tracer.state_rows.matrix) for k in motors)
        return bound or any(min(k, m) in tracer.mass[max(k, m)] for k in unknown for m in motors)

    @property
    def all_frames(self) -> tuple[str, ...]:
        """Return the links of kinematics, all bodies where none are named."""
        return checked_frames(self.robot, self.frames or None)

    def recipe(self) -> Recipe:
        """Return what the graphs are traced from."""
        rows, plan = self.constraints, row_plan(self.constraints)
        return Recipe(self.robot, rows, plan, self.all_frames, self.payloads, use_cache=False)

    def fingerprint(self) -> str:
        """Return a hash of all that shapes an array or a result, the same on every machine."""
        model = self.robot, self.constraints.constraints, self.actuated, self.known, self.motors
        arrays = self.all_frames, self.payloads, self.functions, FUNCTIONS
        return content_hash((kd.__version__, *model, *arrays))


def reference_speeds(model: RobotModel) -> tuple[str, ...] | None:
    """Return the speeds that a motion is given by: of a base driven by velocity, its own."""
    if not model.drives or model.base is None:
        return known_speeds(model, ())
    rolling = {*model.base.driven, *model.base.passive}.difference(model.base.steering)
    return tuple(name for name in model.robot.velocity_names if name not in rolling)


def identifier(name: str) -> str:
    """Return a robot's name as names in C begin: lower-case letters, digits and underscores."""
    plain = re.sub(r'\W+', '_', name.lower(), flags=re.ASCII).strip('_')
    return plain if plain[:1].isalpha() else f'robot_{plain}'.rstrip('_')


def write_core(plan: Plan, folder: Path, progress: Progress = silent) -> tuple[str, ...]:
    """Write kernels.o, NAME.h, NAME.c, libNAME.so and the loader NAME.py."""
    compiler = c_compiler()
    recipe, target = plan.recipe(), target_of(plan.cpu)
    symbols = {name: f'@{plan.name}_{name}_kernel' for name in OUTSIDE}
    available = makers(recipe, plan.actuated, plan.known, symbols)
    names = selected_functions(available, plan.functions)
    solved = FORWARD in names and not solved_by_loops(plan.robot, plan.constraints)
    hidden = [x for x in OUTSIDE if solved and x not in names and x in available]

    def modules() -> Iterator[tuple[str, str, Spec]]:
        for name in (*names, *hidden):
            spec = replace(available[name](), name=f'{plan.name}_{name}_kernel')
            yield name, core_text(spec, vector_lanes()), spec

    compiled = compile_modules(modules(), len(names) + len(hidden), progress, target)
    objects = [folder / f'{name}.o' for name in compiled]
    for path, (_, code) in zip(objects, compiled.values(), strict=True):
        path.write_bytes(code)
    functions = [Function.of(plan.name, name, compiled[name][0]) for name in names]
    values = common_values(plan) | _texts(functions)
    for template, suffix in (('robot.h', 'h'), ('robot.c', 'c'), ('loader.py', 'py')):
        text = filled(template, values)
        (folder / f'{plan.name}.{suffix}').write_text(text, encoding='utf-8')
    shutil.copy(CPP_PACKAGE / 'include' / CPP_PACKAGE.name / _HEADER, folder)
    parts = [path.name for path in objects]
    run_command([*compiler, '-r', '-nostdlib', '-o', 'kernels.o', *parts], folder)
    for path in objects:
        path.unlink()
    library = f'lib{plan.name}.so'
    options = ['-O2', '-fPIC', '-shared', f'-Wl,-soname,{library}', '-Wl,-z,noexecstack']
    run_command([*compiler, *options, '-o', library, f'{plan.name}.c', 'kernels.o', '-lm'], folder)
    return names


def c_compiler() -> list[str]:
    """Return the command of the C compiler: CC, else cc."""
    command = shlex.split(os.environ.get('CC', '')) or ['cc']
    if shutil.which(command[0]) is None:
        raise MissingPackageError(
            'a shared library', f"a C compiler ('{command[0]}')", 'apt install gcc, or set CC'
        )
    return command


def run_command(command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder; raises InvalidInputError with what it said."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InvalidInputError(f'{shlex.join(command)} failed: {done.stderr.strip()}')


def common_values(plan: Plan) -> dict[str, Any]:
    """Return what templates say about a robot."""
    robot, upper = plan.robot, plan.name.upper()
    default = Parameters(robot, plan.payloads).values.tolist()
    lists = {
        'VELOCITY': robot.velocity_names,
        'COORDINATE': robot.coordinate_names,
        'ROW': plan.constraints.labels,
        'FRAME': plan.all_frames,
        'REFERENCE': plan.references,
        'STATE': [name for name in plan.references if name in robot.joint_names],
        'MOTOR': plan.motors,
        'PAYLOAD': plan.payloads,
    }
    values: dict[str, Any] = {
        'ROBOT': re.sub(r'["*\\\s]', ' ', robot.name),  # stands in comments
        'VERSION': kd.__version__,
        'NAME': plan.name,
        'PREFIX': upper,
        'NQ': robot.nq,
        'NV': robot.nv,
        'ROWS': len(plan.constraints.labels),
        'BINDS': int(plan.rows_bind_motors),
        'FRAMES': len(plan.all_frames),
        'COUNT': len(default),
        'CPU': plan.cpu,
        'SUPPORTED': supported(plan.cpu),
        'SURE': repr(RCOND_LIMIT),
        'DEFAULTS': ', '.join(map(repr, default)),
        'PAYLOADS': _payloads(plan),
        'NOTES': _notes(plan),
        'COORDINATES': listed(_numbered(robot.coordinate_names)),
        'SPEEDS': listed(_numbered(robot.velocity_names)),
        'MOTORS': ', '.join(str(int(name in plan.actuated)) for name in robot.velocity_names),
        'URDF': '\n    '.join(map(c_string, plan.urdf.splitlines(keepends=True))) or '""',
        'URDF_SHA256': hashlib.sha256(plan.urdf.encode()).hexdigest() if plan.urdf else '',
        'FINGERPRINT': plan.fingerprint(),
    }
    values |= {f'{key}_NAMES': quoted(names) for key, names in lists.items()}
    return values | {f'{key}_TUPLE': repr(tuple(names)) for key, names in lists.items()}


def _texts(functions: Sequence[Function]) -> dict[str, str]:
    return {
        'DECLARATIONS': ''.join(x.declaration for x in functions),
        'ENTRIES': '\n'.join(x.entry for x in functions),
        'DEFINITIONS': ''.join(x.definition for x in functions),
        'FUNCTIONS': '\n'.join(['{', *(x.line for x in functions), '}']),
        'METHODS': ''.join(x.method for x in functions),
    }


def _numbered(names: Sequence[str]) -> list[str]:
    return [f'{k}: {name}' for k, name in enumerate(names)]


def _payloads(plan: Plan) -> str:
    """Return what the header says about payloads."""
    if not plan.payloads:
        return ''
    names = ', '.join(plan.payloads)
    made = f'as\n * {plan.name}_load makes them of payloads on {names}'
    return f', then the inertias of what carries payloads, {made}'


def _notes(plan: Plan) -> str:
    """Return what the header says about motors and constraints, as lines of a comment."""
    if not plan.constraints:
        return ''
    known = 'all' if plan.known is None else ', '.join(plan.known)
    return '\n'.join(
        [
            ' * Constraint rows, and so lambda:',
            listed(_numbered(plan.constraints.labels)),
            f' * Motors: {", ".join(plan.actuated)}.',
            f' * Speeds that motor_efforts takes: {known}; others follow from the constraints.',
            '',
        ]
    )
