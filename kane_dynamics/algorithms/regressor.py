# SPDX-License-Identifier: Apache-2.0
r"""
The regressor W of a tree: its efforts, linear in the inertial parameters of the bodies.

.. math:: M a + C v + g = W(q, v, a) \phi, \quad
   \phi_i = (m, m c, J_{xx}, J_{xy}, J_{xz}, J_{yy}, J_{yz}, J_{zz})

about the origin of each body's own frame, in its axes (Atkeson, An and Hollerbach, Int. J.
Robotics Research 5(3), 1986). With a the acceleration of the origin less gravity,
:math:`U = S(\alpha) + S(\omega)^2`, and unit tensors :math:`E_{ij}`, a body takes the dual force

.. math:: \underline\zeta_m = a, \quad
   \underline\zeta_{m c_k} = U e_k + \varepsilon\, e_k \times a, \quad
   \underline\zeta_{J_{ij}} = \varepsilon\,(E_{ij}\alpha + \omega \times E_{ij}\omega)

for a unit of each parameter. Carried to an ancestor's joint j and projected there, (27), (30), it
is :math:`\mathcal D\langle S_j, Ad(x_i^j) \underline\zeta \rangle =
\mathcal D\langle Ad(x_j^i) S_j, \underline\zeta \rangle`:
not ten dual forces move inward here but one axis outward. Joints that follow another one add to
its row.
"""

from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, power
from kane_dynamics.algebra.inertia import UPPER
from kane_dynamics.algebra.matrices import matrix_of
from kane_dynamics.algebra.quaternions import Quaternion, cross, pure, scale
from kane_dynamics.algorithms.newton_euler_by_moments import BodyMotion, body_motion
from kane_dynamics.robot.inertial_parameters import PARAMETERS
from kane_dynamics.robot.motion import joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import NDArray


def regressor(robot: Robot, q: Any, v: Any, a: Any) -> NDArray:
    """Return W with N(q, v, a) = W phi, without friction and armature, shape (nv, 10 bodies)."""
    world = BodyMotion(ZERO, ZERO, scale(robot.gravity_quaternion, -1.0), np.zeros((3, 3)))
    motions: list[BodyMotion] = []
    axes: list[dict[int, DualQuaternion]] = []  # of the speeds that move a body, in its frame
    rows: list[list[Any]] = [
        [0.0] * (len(PARAMETERS) * len(robot.bodies)) for _ in range(robot.nv)
    ]
    for i, parent in enumerate(robot.parents):
        joint = joint_motion(robot, i, q, v)
        before = world if parent == WORLD else motions[parent]
        motions.append(body_motion(joint, before, joint.twist_rate(a)))
        moving = {} if parent == WORLD else {k: joint.to_child(S) for k, S in axes[parent].items()}
        for k, axis in enumerate(joint.axes, start=joint.columns.start):
            moving[k] = moving[k] + axis if k in moving else axis
        axes.append(moving)
        for column, zeta in enumerate(body_wrenches(motions[i]), start=len(PARAMETERS) * i):
            for k, axis in moving.items():
                rows[k][column] = power(axis, zeta)
    return matrix_of(rows)


def body_wrenches(motion: BodyMotion) -> list[DualQuaternion]:
    """Return the dual force that a unit of each of a body's parameters takes, about its origin."""
    omega, alpha, a, U = motion
    wrenches = [DualQuaternion(a, ZERO)]
    for k, unit in enumerate(np.eye(3).tolist()):
        wrenches.append(DualQuaternion(pure(U[:, k].tolist()), cross(pure(unit), a)))
    for i, j in zip(*(part.tolist() for part in UPPER), strict=True):
        moment = _unit_tensor(i, j, alpha) + cross(omega, _unit_tensor(i, j, omega))
        wrenches.append(DualQuaternion(ZERO, moment))
    return wrenches


def _unit_tensor(i: int, j: int, x: Quaternion) -> Quaternion:
    """Return E_ij x, of the symmetric tensor with ones at (i, j) and (j, i)."""
    components, product = (x.x, x.y, x.z), [0.0] * 3
    product[i], product[j] = components[j], components[i]
    return pure(product)
