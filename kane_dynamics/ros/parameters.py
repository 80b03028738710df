# SPDX-License-Identifier: Apache-2.0
"""A parameter table on a node: declare it, read it, check later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from kane_dynamics.ros.spec import Spec, matching_spec, plain, specs

T = TypeVar('T')


def declare(node: Node, table: type[T]) -> T:
    """
    Declare all parameters of a table and return their values.

    Raises
    ------
    rclpy.exceptions.InvalidParameterTypeException
        If an override has another type than the default (``100`` for a double).
    rclpy.exceptions.InvalidParameterValueException
        If an override is out of bounds or not one of the choices.

    """
    for spec in specs(table):
        _declare(node, spec, spec.name)
    return read(node, table)


def _declare(node: Node, spec: Spec, name: str) -> None:
    """Declare one parameter and check what a descriptor cannot: choices, sizes, finiteness."""
    default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
    descriptor = _descriptor(spec)
    descriptor.name = name
    value = node.declare_parameter(name, default, descriptor).value
    problem = spec.problem(value)
    if problem:
        raise InvalidParameterValueException(name, value, problem)


def read(node: Node, table: type[T]) -> T:
    """Return the present values of a table; arrays come as tuples, without empty strings."""
    return table(*(plain(node.get_parameter(spec.name).value) for spec in specs(table)))


def declare_for_joints(node: Node, table: Iterable[Spec], joints: Iterable[str]) -> None:
    """Declare per-joint parameters (``<joint>`` in the name) that are not declared yet."""
    for spec in table:
        for joint in joints:
            name = spec.name.replace('<joint>', joint)
            if not node.has_parameter(name):
                _declare(node, spec, name)


def read_for_joints(node: Node, spec: Spec, joints: Sequence[str]) -> NDArray[np.float64]:
    """Return one per-joint parameter for each joint, in the order given; shape (n,)."""
    names = (spec.name.replace('<joint>', joint) for joint in joints)
    return np.array([node.get_parameter(name).value for name in names], dtype=float)


def install_validation(
    node: Node, table: type, joint_table: Iterable[Spec], on_change: Callable[[], None]
) -> None:
    """
    Check every later change against the table and call `on_change` once it is accepted.

    The check has no side effect and accepts names that it does not know.
    """
    by_name = {spec.name: spec for spec in specs(table)}
    patterns = tuple(joint_table)

    def check(changes: list[Parameter[Any]]) -> SetParametersResult:
        for change in changes:
            spec = by_name.get(change.name) or matching_spec(change.name, patterns)
            problem = spec.problem(change.value) if spec is not None else ''
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    def apply(changes: list[Parameter[Any]]) -> None:
        on_change()

    node.add_on_set_parameters_callback(check)
    node.add_post_set_parameters_callback(apply)


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
        else:
            limits = FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)
            message.floating_point_range = [limits]
    return message


def unknown_overrides(node: Node, known: Iterable[Spec]) -> tuple[str, ...]:
    """
    Return overrides (from YAML or ``-p``) that no node of this package declares.

    ROS ignores such names silently, so a misspelt parameter would have no effect at all. rclpy
    has no public list of overrides, hence the private attribute.
    """
    overrides = getattr(node, '_parameter_overrides', {})
    table = tuple(known)
    built_in = ('use_sim_time', 'start_type_description_service')
    return tuple(
        sorted(
            name
            for name in overrides
            if name not in built_in
            and not name.startswith('qos_overrides.')
            and matching_spec(name, table) is None
        )
    )
