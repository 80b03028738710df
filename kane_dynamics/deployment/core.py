# SPDX-License-Identifier: Apache-2.0
"""The C library of a robot: machine code, header, stamps, and a loader for Python."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import kane_dynamics as kd
from kane_dynamics.compiler.build import FORWARD
from kane_dynamics.compiler.dense_kernels import OUTSIDE
from kane_dynamics.compiler.generic import solved_by_loops
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.llvm.kernel_spec import RCOND_LIMIT
from kane_dynamics.compiler.llvm.module import core_text
from kane_dynamics.compiler.llvm.native import start_compiling, vector_lanes
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.code_generation import (
    declaration,
    definition,
    filled,
    listed,
    method,
    quoted,
    supported,
    table,
    target_of,
)
from kane_dynamics.deployment.functions import FUNCTIONS, Spec, makers, selected_functions
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.robot.body import add_content
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_frames, checked_payload_frames

Progress = Callable[[str, int, int], None]


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
    def all_frames(self) -> tuple[str, ...]:
        """Return the links of kinematics, all bodies where none are named."""
        return checked_frames(self.robot, self.frames or None)

    def recipe(self) -> Recipe:
        """Return what the graphs are traced from."""
        rows, plan = self.constraints, row_plan(self.constraints)
        return Recipe(self.robot, rows, plan, self.all_frames, self.payloads, use_cache=False)

    def fingerprint(self) -> str:
        """Return a hash of all that shapes an array or a result, the same on every machine."""
        digest = hashlib.sha256()
        model = self.robot, self.constraints.constraints, self.actuated, self.known
        arrays = self.all_frames, self.payloads, self.functions, FUNCTIONS
        add_content(digest, (kd.__version__, *model, *arrays))
        return digest.hexdigest()


def identifier(name: str) -> str:
    """Return a robot's name as names in C begin: lower-case letters, digits and underscores."""
    plain = re.sub(r'\W+', '_', name.lower(), flags=re.ASCII).strip('_')
    return plain if plain[:1].isalpha() else f'robot_{plain}'.rstrip('_')


def write_core(
    plan: Plan, folder: Path, progress: Progress = lambda what, done, total: None
) -> tuple[str, ...]:
    """Write kernels.o, NAME.h, NAME.c, libNAME.so and the loader NAME.py."""
    compiler = c_compiler()
    recipe, target = plan.recipe(), target_of(plan.cpu)
    symbols = {name: f'@{plan.name}_{name}_kernel' for name in OUTSIDE}
    available = makers(recipe, plan.actuated, plan.known, symbols)
    names = selected_functions(available, plan.functions)
    solved = FORWARD in names and not solved_by_loops(plan.robot, plan.constraints)
    hidden = [x for x in OUTSIDE if solved and x not in names and x in available]
    jobs = []
    every = [*names, *hidden]
    for done, name in enumerate(every):
        progress(f'tracing {name}', done, 2 * len(every))
        spec = replace(available[name](), name=f'{plan.name}_{name}_kernel')
        jobs.append((name, spec, start_compiling(core_text(spec, vector_lanes()), target)))
    specs: dict[str, Spec] = {}
    objects = []
    for done, (name, spec, job) in enumerate(jobs, start=len(every)):
        progress(f'compiling {name}', done, 2 * len(every))
        objects.append(folder / f'{name}.o')
        objects[-1].write_bytes(job.result())
        if name in names:
            specs[name] = spec
    values = common_values(plan) | _texts(plan.name, specs)
    (folder / f'{plan.name}.h').write_text(filled('robot.h', values), encoding='utf-8')
    (folder / f'{plan.name}.c').write_text(filled('robot.c', values), encoding='utf-8')
    (folder / f'{plan.name}.py').write_text(filled('loader.py', values), encoding='utf-8')
    _run([*compiler, '-r', '-nostdlib', '-o', 'kernels.o', *[x.name for x in objects]], folder)
    for path in objects:
        path.unlink()
    library = f'lib{plan.name}.so'
    options = ['-O2', '-fPIC', '-shared', f'-Wl,-soname,{library}', '-Wl,-z,noexecstack']
    _run([*compiler, *options, '-o', library, f'{plan.name}.c', 'kernels.o', '-lm'], folder)
    progress('done', 2 * len(every), 2 * len(every))
    return names


def c_compiler() -> list[str]:
    """Return the command of the C compiler: CC, else cc."""
    command = shlex.split(os.environ.get('CC', '')) or ['cc']
    if shutil.which(command[0]) is None:
        raise MissingPackageError(
            'a shared library', f"a C compiler ('{command[0]}')", 'apt install gcc, or set CC'
        )
    return command


def _run(command: Sequence[str], folder: Path) -> None:
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
    }
    values: dict[str, Any] = {
        'ROBOT': re.sub(r'["*\\\s]', ' ', robot.name),  # stands in comments
        'VERSION': kd.__version__,
        'NAME': plan.name,
        'PREFIX': upper,
        'NQ': robot.nq,
        'NV': robot.nv,
        'ROWS': len(plan.constraints.labels),
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
        'URDF_SHA256': hashlib.sha256(plan.urdf.encode()).hexdigest() if plan.urdf else '',
        'FINGERPRINT': plan.fingerprint(),
    }
    values |= {f'{key}_NAMES': quoted(names) for key, names in lists.items()}
    return values | {f'{key}_TUPLE': repr(tuple(names)) for key, names in lists.items()}


def _texts(prefix: str, specs: Mapping[str, Spec]) -> dict[str, str]:
    return {
        'DECLARATIONS': ''.join(declaration(prefix, name, s) for name, s in specs.items()),
        'DEFINITIONS': ''.join(definition(prefix, name, s) for name, s in specs.items()),
        'FUNCTIONS': table(specs),
        'METHODS': ''.join(method(name, s) for name, s in specs.items()),
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
