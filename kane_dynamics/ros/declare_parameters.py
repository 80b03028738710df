# SPDX-License-Identifier: Apache-2.0
"""A parameter table on a node: declare it, read it, check later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterValueException, ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot_config.parameters.nodes import ALL_SPECS
from kane_dynamics.robot_config.parameters.spec import (
    Spec,
    matching_spec,
    nearest,
    nearest_parameter,
    placeholder,
    plain,
    specs,
)

T = TypeVar('T')

_PROPOSED: WeakKeyDictionary[Node, dict[str, Any]] = WeakKeyDictionary()
"""Values that a node is taking over, which rclpy does not have yet."""


class UnknownParameterError(KaneDynamicsError, ParameterException):
    """A parameter that no node has, with a name like that of one that exists."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


def declare(node: Node, table: type[T]) -> T:
    """
    Declare all parameters of a table and return their values; 100 is taken for 100.0.

    Raises
    ------
    UnknownParameterError
        If an override has a name like that of a parameter, but of none of this package.
    rclpy.exceptions.InvalidParameterTypeException
        If an override has another type than the default.
    rclpy.exceptions.InvalidParameterValueException
        If an override is out of bounds or not one of the choices.

    """
    for name in unknown_overrides(node):
        meant = nearest_parameter(name, ALL_SPECS)
        if meant:
            raise UnknownParameterError(f"there is no parameter '{name}'; did you mean '{meant}'?")
    for spec in specs(table):
        _declare(node, spec, spec.name)
    return read(node, table)


def _declare(node: Node, spec: Spec, name: str) -> None:
    """Declare one parameter and check what a descriptor cannot: choices, sizes, finiteness."""
    default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
    descriptor = _descriptor(spec)
    descriptor.name = name
    overrides = _overrides(node)
    if name in overrides:
        overrides[name] = _as_double(overrides[name], spec)
    value = node.declare_parameter(name, default, descriptor).value
    problem = spec.problem(value)
    if problem:
        raise InvalidParameterValueException(name, value, problem)


def read(node: Node, table: type[T]) -> T:
    """Return the present values of a table; arrays come as tuples, without empty strings."""
    return table(*(plain(present(node, spec.name)) for spec in specs(table)))


def declare_for_each(node: Node, table: Iterable[Spec], names: Iterable[str]) -> None:
    """Declare parameters with ``<joint>`` or ``<constraint>`` in the name, where they are new."""
    for spec in table:
        for each in names:
            name = spec.name.replace(placeholder(spec.name), each)
            if not node.has_parameter(name):
                _declare(node, spec, name)


def read_for_joints(node: Node, spec: Spec, joints: Sequence[str]) -> NDArray[np.float64]:
    """Return one per-joint parameter for each joint, in the order given; shape (n,)."""
    names = (spec.name.replace('<joint>', joint) for joint in joints)
    return np.array([present(node, name) for name in names], dtype=float)


def present(node: Node, name: str) -> Any:
    """Return the value of a parameter, as proposed while a change is being taken over."""
    proposed = _PROPOSED.get(node, {})
    return proposed[name] if name in proposed else node.get_parameter(name).value


def overrides_below(node: Node, prefix: str) -> list[str]:
    """Return the names of overrides that begin with a prefix."""
    return sorted(name for name in _overrides(node) if name.startswith(prefix))


def misspelt_joint(node: Node, table: Iterable[Spec], joints: Sequence[str]) -> str:
    """Return what is wrong with a per-joint override: a joint like one of the robot's, or ''."""
    for name in sorted(_overrides(node)):
        spec = matching_spec(name, (s for s in table if '<joint>' in s.name))
        if spec is None:
            continue
        head, _, tail = spec.name.partition('<joint>')
        joint = name.removeprefix(head).removesuffix(tail)
        meant = nearest(joint, joints)
        if joint not in joints and meant:
            return f"parameter '{name}': no joint '{joint}'; did you mean '{meant}'?"
    return ''


def install_validation(
    node: Node,
    table: type,
    joint_table: Iterable[Spec],
    on_change: Callable[[], None],
    further: Callable[[str, Any], str] = lambda name, value: '',
) -> None:
    """
    Check every later change against the table, then let the node take it over by `on_change`.

    Whatever `on_change` raises refuses the change with that reason; it is called again then, with
    the values from before. Names that are not known are accepted. `further` returns what else is
    wrong with a value, or ''.
    """
    by_name = {spec.name: spec for spec in specs(table)}
    patterns = tuple(joint_table)

    def spec_of(name: str) -> Spec | None:
        return by_name.get(name) or matching_spec(name, patterns)

    def convert(changes: list[Parameter[Any]]) -> list[Parameter[Any]]:
        return [_as_double(change, spec_of(change.name)) for change in changes]

    def check(changes: list[Parameter[Any]]) -> SetParametersResult:
        for change in changes:
            spec = spec_of(change.name)
            problem = spec.problem(change.value) if spec is not None else ''
            problem = problem or further(change.name, plain(change.value))
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        problem = _take_over(node, {change.name: change.value for change in changes}, on_change)
        return SetParametersResult(successful=not problem, reason=problem)

    node.add_pre_set_parameters_callback(convert)
    node.add_on_set_parameters_callback(check)


def _take_over(node: Node, values: dict[str, Any], on_change: Callable[[], None]) -> str:
    """Return why a node cannot go on with other values, or ''."""
    _PROPOSED[node] = values
    try:
        on_change()
    except Exception as error:  # noqa: BLE001 - no error of a value may end a node
        del _PROPOSED[node]
        on_change()
        return str(error) or type(error).__name__
    del _PROPOSED[node]
    return ''


def _descriptor(spec: Spec) -> ParameterDescriptor:
    """Return the rclpy descriptor with unit, bounds and read-only flag."""
    text = spec.description + (f' [{spec.unit}]' if spec.unit else '')
    message = ParameterDescriptor(
        name=spec.name,
        description=text,
        read_only=spec.read_only,
        additional_constraints=spec.constraints(),
    )
    if spec.bounds is not None:
        low, high = spec.bounds
        if spec.kind == 'int':
            bounds = IntegerRange(from_value=int(low), to_value=int(high), step=0)
            message.integer_range = [bounds]
        elif spec.kind == 'double':
            limits = FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)
            message.floating_point_range = [limits]
    return message


def parameter_remarks(node: Node, params_file: str) -> tuple[str, ...]:
    """Return what ROS does not complain about: a missing file, unknown parameters."""
    notes = [
        f"parameter '{name}' is unknown to every node of this package and has no effect"
        for name in unknown_overrides(node)
    ]
    if params_file and not Path(params_file).is_file():
        notes.insert(0, f"params_file '{params_file}' cannot be read; defaults are in use")
    return tuple(notes)


def unknown_overrides(node: Node) -> tuple[str, ...]:
    """
    Return overrides (from YAML or ``-p``) that no node of this package declares.

    ROS ignores such names silently, so a misspelt parameter would have no effect at all.
    """
    built_in = ('use_sim_time', 'start_type_description_service')
    return tuple(
        sorted(
            name
            for name in _overrides(node)
            if name not in built_in
            and not name.startswith('qos_overrides.')
            and matching_spec(name, ALL_SPECS) is None
        )
    )


def _overrides(node: Node) -> dict[str, Parameter[Any]]:
    """Return the overrides of a node; rclpy has no public list of them."""
    result: dict[str, Parameter[Any]] = getattr(node, '_parameter_overrides', {})
    return result


def _as_double(parameter: Parameter[Any], spec: Spec | None) -> Parameter[Any]:
    """Return a parameter with its integers as doubles where those are wanted."""
    kind = spec.kind if spec is not None else ''
    if kind == 'double' and parameter.type_ == Parameter.Type.INTEGER:
        return Parameter(parameter.name, Parameter.Type.DOUBLE, float(parameter.value))
    if kind == 'double_array' and parameter.type_ == Parameter.Type.INTEGER_ARRAY:
        values = [float(x) for x in parameter.value]
        return Parameter(parameter.name, Parameter.Type.DOUBLE_ARRAY, values)
    return parameter
