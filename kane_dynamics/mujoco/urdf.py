# SPDX-License-Identifier: Apache-2.0
"""A URDF as MuJoCo takes it; what it does not read is left out by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.exceptions import ModelWarning
from kane_dynamics.mujoco.plugin import FIRST
from kane_dynamics.robot.mjcf import mujoco_module
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.xml import robot_element

if TYPE_CHECKING:
    import mujoco

_MESHES = ('.stl', '.obj', '.msh')


def spec_of_urdf(urdf: str | Path, robot: Robot, motors: Sequence[str] = ()) -> mujoco.MjSpec:
    """
    Return a model of MuJoCo with the masses of a robot, and the shapes and joints of its URDF.

    Visual shapes are left out, and collision meshes of formats that MuJoCo does not read. Joints
    that the robot has not are welded. A motor of MuJoCo takes the effort [N m or N] of each of
    `motors`, within the limit of the robot. Before 4.0 islands are off, as `attach` needs.

    Parameters
    ----------
    urdf : str or Path
        A file, in whose folder relative paths of meshes begin, or its text.
    robot : Robot
        What was loaded from it.
    motors : sequence of str
        Joints that get a motor of the same name.

    Raises
    ------
    InvalidInputError
        A mesh that cannot be found.
    MissingPackageError
        No mujoco (pip install kane_dynamics[mujoco]).

    Warns
    -----
    ModelWarning
        Collision meshes that are left out.

    Examples
    --------
    >>> import kane_dynamics as kd
    >>> from kane_dynamics.robot.resources import share_directory
    >>> path = share_directory() / 'robots' / 'nonholonomic.urdf'
    >>> spec = kd.mujoco.spec_of_urdf(path, kd.load_urdf(path), ['arm_1_joint'])
    >>> [actuator.name for actuator in spec.actuators]
    ['arm_1_joint']

    """
    mj = mujoco_module()
    root = robot_element(urdf)
    is_text = isinstance(urdf, str) and '<' in urdf
    folder = Path() if is_text else resolve(str(urdf), 'urdf').parent
    unread = []
    for link in root.iter('link'):
        for part in (*link.findall('visual'), *link.findall('inertial')):
            link.remove(part)
        unread += [
            name for part in link.findall('collision') if (name := _unread(link, part, folder))
        ]
    if unread:
        several = ', '.join(sorted(set(unread)))
        warnings.warn(f'MuJoCo does not read {several}: left out', ModelWarning, stacklevel=2)
    _set_compiler(root)
    spec = mj.MjSpec.from_string(tostring(root, encoding='unicode'))
    if mj.mj_version() < FIRST:
        spec.option.disableflags |= int(mj.mjtDisableBit.mjDSBL_ISLAND)
    spec.compiler.inertiafromgeom = mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    for body in robot.bodies:
        _set_inertia(spec.body(body.name), body.inertia)
    for joint in list(spec.joints):
        if joint.name not in robot.joint_names:
            spec.delete(joint)
    for name in motors:
        _add_motor(mj, spec, robot, name)
    return spec


def _unread(link: Element, collision: Element, folder: Path) -> str:
    """Write the file of a mesh into a collision shape; remove, and name, what is not read."""
    mesh = collision.find('geometry/mesh')
    if mesh is None:
        return ''
    address = mesh.get('filename', '')
    if Path(address).suffix.lower() not in _MESHES:
        link.remove(collision)
        return Path(address).name
    local = address if '://' in address else str(folder / address)
    mesh.set('filename', str(resolve(local, 'mesh').absolute()))
    return ''


def _set_compiler(root: Element) -> None:
    """Keep the paths of meshes."""
    settings = root.find('mujoco')
    settings = SubElement(root, 'mujoco') if settings is None else settings
    compiler = settings.find('compiler')
    compiler = SubElement(settings, 'compiler') if compiler is None else compiler
    compiler.set('strippath', 'false')


def _set_inertia(body: mujoco.MjsBody, inertia: Inertia) -> None:
    """Set mass, centre of mass and inertia about it, with all that is welded to a body."""
    body.explicitinertial, body.mass, body.ipos = True, inertia.mass, inertia.com
    body.fullinertia = inertia.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _add_motor(mj: object, spec: mujoco.MjSpec, robot: Robot, name: str) -> None:
    limit = float(robot.effort_limit[robot.velocity_index(name)])
    motor = spec.add_actuator(name=name, target=name)
    motor.trntype = mj.mjtTrn.mjTRN_JOINT  # type: ignore[attr-defined]
    motor.set_to_motor()
    if limit < float('inf'):
        motor.ctrllimited, motor.ctrlrange = True, [-limit, limit]
