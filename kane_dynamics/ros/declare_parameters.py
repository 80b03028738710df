# SPDX-License-Identifier: Apache-2.0
"""A parameter table on a node: declare it, read it, check later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
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
from kane_dynamics.robot_config.parameters.spec import (
    Spec,
    matching_spec,
    nearest,
    nearest_parameter,
    plain,
)
from kane_dynamics.robot_config.parameters.tables import Parameters, all_specs
from kane_dynamics.typing import Floats

T = TypeVar('T', bound=Parameters)

_PROPOSED: WeakKeyDictionary[Node, dict[str, Any]] = WeakKeyDictionary()
"""Values that a node is taking over, which rclpy does not have yet."""


class UnknownParameterError(KaneDynamicsError, ParameterException):
    """A parameter that no node has, with a name like that of one that exists."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


def declare(node: Node, table: type[T]) -> T:
    """Declare all parameters of a table and return their values; 100 is taken for 100.0."""
    for name in unknown_overrides(node):
        meant = nearest_parameter(name, all_specs())
        if meant:
            raise UnknownParameterError(f"there is no parameter '{name}'; did you mean '{meant}'?")
    for spec in table.specs:
        if not spec.mark:
            _declare(node, spec, spec.name)
    return read(node, table)


def _declare(node: Node, spec: Spec, name: str) -> None:
    """Declare one parameter and check what a descriptor cannot: choices, sizes, finiteness."""
    default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
    overrides = _overrides(node)
    if name in overrides:
        overrides[name] = _as_double(overrides[name], spec)
    value = node.declare_parameter(name, default, _descriptor(spec, name)).value
    problem = spec.problem(value)
    if problem:
        raise InvalidParameterValueException(name, value, problem)


def read(node: Node, table: type[T], each: str = '') -> T:
    """Return the present values of a table, of one constraint for instance; arrays as tuples."""
    return table(
        **{
            spec.field: plain(present(node, spec.name_of(each)))
            for spec in table.specs
            if bool(spec.mark) == bool(each)
        }
    )


def declare_for_each(node: Node, table: type[Parameters], mark: str, names: Iterable[str]) -> None:
    """Declare the parameters of a table that `mark` is in, ``<joint>``, where they are new."""
    for spec in table.specs:
        for name in map(spec.name_of, names if spec.mark == mark else ()):
            if not node.has_parameter(name):
                _declare(node, spec, name)


def read_for_joints(node: Node, name: str, joints: Sequence[str]) -> Floats:
    """Return ``gains.<joint>.p``, say, for each joint, in the order given; shape (n,)."""
    return np.array([present(node, name.replace('<joint>', each)) for each in joints], dtype=float)


def present(node: Node, name: str) -> Any:
    """Return the value of a parameter, as proposed while a change is being taken over."""
    proposed = _PROPOSED.get(node, {})
    return proposed[name] if name in proposed else node.get_parameter(name).value


def overrides_below(node: Node, prefix: str) -> list[str]:
    """Return the names of overrides that begin with a prefix."""
    return sorted(name for name in _overrides(node) if name.startswith(prefix))


def misspelt_joint(node: Node, joints: Sequence[str]) -> str:
    """Return what is wrong with a per-joint override: a joint like one of the robot's, or ''."""
    table = [spec for spec in all_specs() if spec.mark == '<joint>']
    for name in sorted(_overrides(node)):
        spec = matching_spec(name, table)
        joint = spec.each(name) if spec is not None else None
        if joint and joint not in joints and (meant := nearest(joint, joints)):
            return f"parameter '{name}': no joint '{joint}'; did you mean '{meant}'?"
    return ''


def install_validation(
    node: Node,
    table: type[Parameters],
    on_change: Callable[[], None],
    further: Callable[[str, Any], str] = lambda name, value: '',
) -> None:
    """Check every later change against table, then let the node take it over by `on_change`."""

    def spec_of(name: str) -> Spec | None:
        return matching_spec(name, table.specs)

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


def _descriptor(spec: Spec, name: str) -> ParameterDescriptor:
    """Return the rclpy descriptor with bounds and read-only flag."""
    message = ParameterDescriptor(
        name=name,
        description=spec.description,
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
    """Return overrides (from YAML or ``-p``) that no node of this package declares."""
    built_in = ('use_sim_time', 'start_type_description_service')
    return tuple(
        sorted(
            name
            for name in _overrides(node)
            if name not in built_in
            and not name.startswith('qos_overrides.')
            and matching_spec(name, all_specs()) is None
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
