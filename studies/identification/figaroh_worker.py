# SPDX-License-Identifier: Apache-2.0
"""
What FIGAROH predicts, in its own interpreter: ``python figaroh_worker.py IN.npz OUT.npz URDF``.

IN has `joints` that move, and q, v, a, tau of `training` and q, v, a of `test`. FIGAROH builds the
regressor with viscous and Coulomb friction, rotor inertia and offset, drops columns and finds base
parameters (double QR); `least_squares` and, with weights of joints as its `BaseIdentification` has
them, `weighted` are the efforts (N, n) that they predict for the test.
"""

import sys
from warnings import catch_warnings, simplefilter

import numpy as np
import pinocchio as pin
from figaroh.tools.qrdecomposition import QRDecomposer
from figaroh.tools.regressor import build_regressor_basic, get_index_eliminate

ZERO = 1e-6  # columns below it are dropped


def main() -> None:
    """Read, fit, predict, write."""
    source, target, urdf = sys.argv[1:]
    data = np.load(source)
    whole = pin.buildModelFromUrdf(urdf)
    kept = data['joints'].tolist()
    locked = [i for i, name in enumerate(whole.names) if i and name not in kept]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    order = [kept.index(name) for name in model.names[1:]]
    robot = pin.RobotWrapper(model)
    options = dict.fromkeys(('has_friction', 'has_actuator_inertia', 'has_joint_offset'), True)
    options |= {'is_joint_torques': True, 'is_external_wrench': False}
    options |= {'act_idxv': list(range(model.nv))}
    W, test = (
        build_regressor_basic(robot, *(data[f'{part}_{x}'][:, order] for x in 'qva'), options)
        for part in ('training', 'test')
    )
    tau = data['training_tau'][:, order].T.ravel()
    with catch_warnings():
        simplefilter('ignore')
        names = {f'p{k}': 0.0 for k in range(W.shape[1])}
        dropped, remaining = get_index_eliminate(W, names, ZERO)
    columns = [k for k in range(W.shape[1]) if k not in set(dropped)]
    leading, _ = QRDecomposer()._identify_base_parameters(W[:, columns], remaining)
    leading = [columns[k] for k in leading]
    base, _, _, beta, *_ = QRDecomposer().double_decomposition(tau, W[:, columns], remaining, None)
    if not np.allclose(base, W[:, leading], atol=1e-6 * np.abs(W).max()):
        raise SystemExit('columns of the base regressor are not those that lead')
    variances = np.mean((tau - base @ beta).reshape(model.nv, -1) ** 2, axis=1)
    root = np.sqrt(np.repeat(1.0 / variances, len(tau) // model.nv))
    weighted = np.linalg.lstsq(base * root[:, None], tau * root, rcond=None)[0]
    back = np.argsort(order)
    np.savez(
        target,
        rank=len(beta),
        **{
            name: (test[:, leading] @ x).reshape(model.nv, -1).T[:, back]
            for name, x in (('least_squares', beta), ('weighted', weighted))
        },
    )


if __name__ == '__main__':
    main()
