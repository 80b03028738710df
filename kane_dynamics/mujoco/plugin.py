# SPDX-License-Identifier: Apache-2.0
"""Exact wheels inside MuJoCo: the constraint rows of a robot as a plugin of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kane_dynamics.algorithms.row_elimination import sparse_rows
from kane_dynamics.compiler.cache import cache_folder
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.recipe import fingerprint
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.deployment.core import Plan, c_compiler, run_command, write_core
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.robot.checks import as_positive
from kane_dynamics.robot.mjcf import mujoco_module
from kane_dynamics.robot.robot import BASE_JOINT, Robot

if TYPE_CHECKING:
    import mujoco

WEIGHT = 1e4
"""Of the rows beside the inertia that they move; see `attach`."""
FIRST = 4_000_000
"""`mj_version` from which islands may be on: 4.0.0."""
NAME = 'wheels'
"""Of the plugin's instance, and of its sensor."""
_SOURCE = Path(__file__).with_name('wheels.c')
_PLANAR = (('base_x', (1, 0, 0)), ('base_y', (0, 1, 0)), ('base_yaw', (0, 0, 1)))


def build_plugin(robot: Robot, constraints: ConstraintSet, folder: Path) -> tuple[str, Path]:
    """Write the plugin of rows for the MuJoCo that is installed; return its name and file."""
    mj = mujoco_module()
    plan = Plan(robot, constraints, 'rows', (), functions=('constraint_rows',))
    if not plan.constraints:
        raise InvalidInputError('constraints: need at least one, got none')
    code = fingerprint(robot, plan.constraints, plan.fingerprint(), _SOURCE.read_text())
    name = f'kane_dynamics.wheels_{code[:12]}'
    library = folder / f'{name}-{mj.__version__}.so'
    if library.is_file():
        return name, library
    check_branches(robot, plan.constraints)
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(mj.__file__).parent
    shared = next(path.name for path in sorted(place.glob('libmujoco.so*')))
    options = ['-std=c11', '-O2', '-fPIC', '-shared', '-fvisibility=hidden']
    options += [f'-I{place / "include"}', '-I.', f'-DPLUGIN_NAME="{name}"', '-o', library.name]
    parts = [str(_SOURCE), 'rows.c', 'kernels.o', f'-L{place}', f'-l:{shared}', '-lm']
    with TemporaryDirectory(dir=folder) as made:  # another process may do the same
        write_core(plan, Path(made))
        run_command([*c_compiler(), *options, *parts], Path(made))
        (Path(made) / library.name).replace(library)
    return name, library


def attach(
    spec: mujoco.MjSpec,
    robot: Robot,
    constraints: Sequence[Constraint | Contact],
    joints: Mapping[str, str] | None = None,
    weight: float = WEIGHT,
    folder: Path | None = None,
    name: str = NAME,
) -> Path:
    r"""
    Let a model of MuJoCo keep constraint rows A v = b0, A a = b exactly, contacts and all.

    MuJoCo solves contacts and limits with :math:`M + A^T W A` in place of M and the force
    :math:`A^T (W (b - (A v - b_0) / h) + \lambda)` beside its own; after each step
    :math:`v \leftarrow v - M^{-1} A^T (A M^{-1} A^T)^{-1} (A v - b_0)`, and :math:`\lambda` is
    that of the step. Where rows have a :math:`\Phi`, q is projected onto :math:`\Phi = 0` before.
    Wheels never leave the ground; they slip where `traction` says so, and meet nothing that is
    fixed.

    Parameters
    ----------
    spec : mujoco.MjSpec
        A model with the joints of the robot; it is changed. A base that has none gets them: two
        slides and a hinge of a planar base, a free joint of a floating one. It gets a sensor
        with the multipliers of the last step [N or N m], then A v - b0 after it [m/s or rad/s],
        one of each row.
    robot : Robot
        The robot of the rows.
    constraints : sequence of Constraint or Contact
        Its rows, as `kd.bases` has them. Those of a `kd.constraints.traction` are let go from the
        step after the one in which they needed more than static friction, and hold again where
        their slip has turned around.
    joints : mapping of str to str, optional
        Joints of the robot to those of the model, where they have other names.
    weight : float
        W of each row beside the inertia that it moves. Results do not depend on it, within what
        MuJoCo's solver leaves: its `tolerance` is on a cost that grows with it.
    folder : Path, optional
        Where the plugin is built; the cache where left out.
    name : str
        Of the instance of the plugin and of the sensor; each robot in a model needs its own.

    Returns
    -------
    Path
        The plugin, which is loaded in this process. It needs libmujoco alone: any program that
        loads the model loads it before.

    Raises
    ------
    InvalidInputError
        No constraints; MuJoCo before 4.0 with islands; a row that couples two branches; a
        contact that may open.
    NameNotFoundError
        A joint that the model lacks.
    MissingPackageError
        No mujoco (pip install kane_dynamics[mujoco]), or no C compiler.

    Examples
    --------
    >>> import kane_dynamics as kd, mujoco
    >>> from kane_dynamics.robot.resources import share_directory
    >>> path = share_directory() / 'robots' / 'nonholonomic.urdf'
    >>> robot = kd.load_urdf(path, base='planar')
    >>> names = 'wheel_left_joint', 'wheel_right_joint'
    >>> wheels = [kd.constraints.differential_drive(robot, *names)]
    >>> spec = mujoco.MjSpec.from_file(str(path))
    >>> library = kd.mujoco.attach(spec, robot, wheels)
    >>> model = spec.compile()
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_step(model, data, 100)

    """
    mj = mujoco_module()
    scale = as_positive('weight', weight)
    _check_version(mj, spec)
    moving = _joints(robot)
    names = [(joints or {}).get(name, name) for name in moving]
    if names[0] not in (joint.name for joint in spec.joints):
        _add_base(mj, spec, names, robot.base)
    known = {joint.name: joint for joint in spec.joints}
    for joint in names:
        if joint not in known:
            raise NameNotFoundError('joint of the model', joint, known)
    place = folder or cache_folder() / 'mujoco' / robot.name
    held, friction = _with_cones(constraints)
    rows = ConstraintSet.of(robot, held)
    plugin, library = build_plugin(robot, rows, place)
    mj.mj_loadPluginLibrary(str(library))
    spec.activate_plugin(plugin)
    choices = {'plugin_name': plugin, 'name': name, 'active': True}
    instance = spec.add_plugin(**choices)
    instance.config = {'joints': ' '.join(names), 'weight': repr(scale), 'friction': friction}
    body = known[names[0]].parent
    body.plugin.plugin_name, body.plugin.name, body.plugin.active = plugin, name, True
    if hasattr(body, 'sleep'):  # from 3.4 on: M of a tree that sleeps is not computed again
        body.sleep = mj.mjtSleepPolicy.mjSLEEP_NEVER
    sensor = spec.add_sensor(name=name, type=mj.mjtSensor.mjSENS_USER)
    sensor.datatype, sensor.needstage = mj.mjtDataType.mjDATATYPE_REAL, mj.mjtStage.mjSTAGE_POS
    sensor.dim = 2 * len(rows.labels)
    pairs = zip(names, moving, strict=True)
    _exclude_wheels(spec, [known[name].parent for name, joint in pairs if joint in robot.wheels])
    return library


def _with_cones(constraints: Sequence[Constraint | Contact]) -> tuple[list[Constraint], str]:
    """Return all rows, and of each cone its first row, their number and what it can hold [N]."""
    rows: list[Constraint] = []
    cones: list[str] = []
    for one in constraints:
        if isinstance(one, Contact):
            if one.normal is not None or one.tangent is None:
                raise InvalidInputError(
                    f'{one.labels[0]}: MuJoCo has its own contacts; need rows of traction'
                )
            first, count = sum(len(held.labels) for held in rows), len(one.labels)
            limits = one.friction * one.load, one.static_friction * one.load
            cones.append(f'{first} {count} {limits[0]!r} {limits[1]!r}')
            rows.append(one.tangent)
        else:
            rows.append(one)
    return rows, ' '.join(cones)


def _check_version(mj: Any, spec: mujoco.MjSpec) -> None:
    """Check that contacts are solved with the mass matrix of the plugin."""
    islands = not spec.option.disableflags & mj.mjtDisableBit.mjDSBL_ISLAND
    if mj.mj_version() < FIRST and islands:
        raise InvalidInputError(
            f'MuJoCo {mj.__version__} solves islands with a mass matrix without wheels; need 4.0, '
            'or spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND'
        )


def check_branches(robot: Robot, constraints: ConstraintSet) -> None:
    """Check that each row binds joints of one branch: A' A has entries where M has some."""
    tracer = Tracer(robot, constraints, (), row_plan(constraints))
    rows = sparse_rows(tracer.state_rows.matrix)
    for label, row in zip(constraints.labels, rows, strict=True):
        for k in row:
            for i in row:
                if i < k and i not in tracer.mass[k]:
                    pair = robot.velocity_names[i], robot.velocity_names[k]
                    raise InvalidInputError(
                        f'{label} couples {pair[0]!r} and {pair[1]!r}, joints of two branches: '
                        'the mass matrix of MuJoCo has no entry for them; use <equality> for it'
                    )


def _joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints of a robot in the order of v: slides and a hinge of a planar base."""
    base = {'planar': 3, 'floating': 6}.get(robot.base, 0)
    first = robot.velocity_names[:base] if robot.base == 'planar' else robot.joint_names[:1]
    others = robot.velocity_names[base:]
    several = [name for name in others if name not in robot.joint_names]
    if several:
        raise InvalidInputError(
            f'joints of one degree of freedom behind the base are needed, got {several[0]!r}'
        )
    return (*first[: bool(base) * 3], *others)


def _add_base(mj: Any, spec: mujoco.MjSpec, names: Sequence[str], base: str) -> None:
    """Let the body that carries all joints of the robot move as its base."""
    body = next(joint.parent for joint in spec.joints if joint.name in names)
    while body.parent.name != 'world':
        body = body.parent
    if base == 'floating':
        body.add_joint(name=BASE_JOINT, type=mj.mjtJoint.mjJNT_FREE)
    for name, axis in _PLANAR if base == 'planar' else ():
        turns = mj.mjtJoint.mjJNT_HINGE if axis[2] else mj.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=name, type=turns, axis=axis)


def _exclude_wheels(spec: mujoco.MjSpec, wheels: Iterable[mujoco.MjsBody]) -> None:
    """Let wheels meet nothing that is fixed in the world: their rows carry and hold them."""
    for body in wheels:
        spec.add_exclude(bodyname1='world', bodyname2=body.name)
