# SPDX-License-Identifier: Apache-2.0
"""The tree that the links and joints of a URDF form: one root, no cycle, every name once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kane_dynamics.exceptions import UrdfStructureError, known_names
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfModel


def depth_first(urdf: UrdfModel) -> tuple[str, tuple[UrdfJoint, ...]]:
    """
    Return the root link and all joints depth first from it, siblings in file order.

    Raises
    ------
    UrdfStructureError
        If names repeat, a joint names a link that does not exist, a link has two parents, or the
        links do not hang together in one tree; the message says which.

    """
    carrier = _carriers(urdf)
    roots = [link.name for link in urdf.links if link.name not in carrier]
    if len(roots) > 1:
        raise UrdfStructureError(f'need one root link, these have no parent: {roots}')
    children: dict[str, list[UrdfJoint]] = {link.name: [] for link in urdf.links}
    for joint in urdf.joints:
        children[joint.parent].append(joint)
    ordered: list[UrdfJoint] = []
    waiting = list(reversed(children[roots[0]])) if roots else []
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += reversed(children[joint.child])
    if len(ordered) < len(urdf.joints):
        reached = {joint.child for joint in ordered}
        raise UrdfStructureError(f'links form a cycle: {_cycle(carrier, reached)}')
    return roots[0], tuple(ordered)


def _carriers(urdf: UrdfModel) -> dict[str, UrdfJoint]:
    """Return the joint above each link but the roots."""
    if not urdf.links:
        raise UrdfStructureError('the robot has no links')
    names = [link.name for link in urdf.links]
    _refuse_repeated('link', names)
    _refuse_repeated('joint', (joint.name for joint in urdf.joints))
    known, carrier = set(names), dict[str, UrdfJoint]()
    for joint in urdf.joints:
        for end, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise UrdfStructureError(
                    f"joint '{joint.name}': {end} link '{link}' does not exist; "
                    f'{known_names(known, link)}'
                )
        if joint.child in carrier:
            raise UrdfStructureError(
                f"link '{joint.child}' has two parents, through the joints "
                f"'{carrier[joint.child].name}' and '{joint.name}'"
            )
        carrier[joint.child] = joint
    return carrier


def _refuse_repeated(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UrdfStructureError(f"two {what}s are named '{name}'")
        seen.add(name)


def _cycle(carrier: Mapping[str, UrdfJoint], reached: set[str]) -> str:
    """Return the links of one cycle; it exists because some link is not reached from the root."""
    link = next(name for name in carrier if name not in reached)
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = carrier[link].parent
    cycle = path[path.index(link) :]
    return ' <- '.join([*cycle, cycle[0]])
