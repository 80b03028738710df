# SPDX-License-Identifier: Apache-2.0
"""
What FIGAROH predicts, in its own interpreter: ``python figaroh_worker.py IN.npz OUT.npz URDF``.

IN has `joints` that move; `time`, `q`, `v`, `tau` of the training as recorded; those of the `test`
with `a`; `sampling` and `cutoff` frequency. `BaseIdentification` does all as it is: it filters,
drops columns, thins out, finds base parameters and weights. OUT has the efforts (N, n) of the
test, by base parameters (`weighted`) and, if its solver ends, by bodies (`physical`).
"""

import sys
import tempfile
from warnings import simplefilter

import numpy as np
import pinocchio as pin
import yaml
from figaroh.identification.base_identification import BaseIdentification

SIGNALS = {'positions': 'q', 'velocities': 'v', 'accelerations': 'a', 'torques': 'tau'}


class Recorded(BaseIdentification):
    """FIGAROH with a recording in memory; `select_stage` fits both ways."""

    def load_trajectory_data(self, data_source: None = None) -> dict[str, np.ndarray | None]:
        """Return the recording."""
        signals = {key: self.recording.get(x) for key, x in SIGNALS.items()}
        return {'timestamps': self.recording['time'], **signals}


def main() -> None:
    """Read, fit, predict, write."""
    source, target, urdf = sys.argv[1:]
    simplefilter('ignore')
    data, whole = dict(np.load(source)), pin.buildModelFromUrdf(urdf)
    joints = data['joints'].tolist()
    locked = [i for i, name in enumerate(whole.names) if i and name not in joints]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    names, every = list(model.names[1:]), list(range(model.nv))
    order = [joints.index(name) for name in names]
    data = {key: x[:, order] if x.ndim == 2 else x for key, x in data.items()}
    task = {
        'joints': {'active_joints': names},
        'signal_processing': {f'{x}_frequency': float(data[x]) for x in ('sampling', 'cutoff')},
        'select_stage': 'physical_fit',
    }
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        yaml.safe_dump({'robot': {'name': 'arm'}, 'tasks': {'identification': task}}, file)
        file.flush()
        fit = Recorded(pin.RobotWrapper(model), file.name)
    fit.recording = data
    fit.identif_config |= {'act_idxq': every, 'act_idxv': every, 'has_coupled_wrist': False}
    fit.initialize()
    fit.solve(wls=True, plotting=False)
    fit._val_processed_data = {key: data[f'test_{x}'] for key, x in SIGNALS.items()}
    fit._val_num_samples, fit._val_available = len(data['test_q']), True
    efforts = {}
    for kind in ('physical', 'weighted') if fit.selected.accepted else ('weighted',):
        columns = fit._compute_validation_metrics()['tau_identified_per_joint']
        efforts[kind] = np.column_stack([columns[name] for name in joints])
        fit.selected = None
    np.savez(target, **efforts)


if __name__ == '__main__':
    main()
