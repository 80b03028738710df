# SPDX-License-Identifier: Apache-2.0
"""Dual quaternion algebra: twists, wrenches, poses, inertia (Silva et al., section 2)."""

from kane_dynamics.algebra.dual_quaternion import (
    DualQuaternion,
    dual_cross,
    from_vec8,
    power,
    twist,
    twist_from_vector,
    vec6,
    vec8,
    wrench,
    wrench_from_vector,
)
from kane_dynamics.algebra.inertia import Inertia, linear_map3, quaternionic_tensor
from kane_dynamics.algebra.matrices import skew
from kane_dynamics.algebra.pose import Pose, exp, log
from kane_dynamics.algebra.quaternions import cross, dot, make_quaternion, pure, rotate, vec3, vec4

__all__ = [
    'DualQuaternion',
    'Inertia',
    'Pose',
    'cross',
    'dot',
    'dual_cross',
    'exp',
    'from_vec8',
    'linear_map3',
    'log',
    'make_quaternion',
    'power',
    'pure',
    'quaternionic_tensor',
    'rotate',
    'skew',
    'twist',
    'twist_from_vector',
    'vec3',
    'vec4',
    'vec6',
    'vec8',
    'wrench',
    'wrench_from_vector',
]
