# SPDX-License-Identifier: Apache-2.0
"""The plugin of the wheels under the sanitizers of gcc, in a program without Python."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import sanitizers

from kane_dynamics import cli
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.deployment.core import Plan, write_core
from kane_dynamics.robot_config.robot_source import model_of_file

mujoco = pytest.importorskip('mujoco', reason='pip install mujoco')
HARNESS = Path(__file__).with_name('harness.c')
PLUGIN = Path(cli.__file__).parents[1] / 'mujoco' / 'wheels.c'


def test_address_and_undefined_behaviour(tmp_path):
    model = model_of_file('nonholonomic')
    assert cli.main(['build', 'nonholonomic', '--mujoco', '--output', str(tmp_path)]) == 0
    (library,) = tmp_path.glob('lib/mujoco_plugins/*.so')
    xml = tmp_path / 'nonholonomic.xml'
    weight = '<config key="weight"'  # the first wheel slips after some steps
    text = xml.read_text().replace(weight, f'<config key="friction" value="0 1 3 4"/>{weight}')
    xml.write_text(text)
    rows = ConstraintSet.of(model.robot, model.constraints)
    write_core(Plan(model.robot, rows, 'rows', (), functions=('constraint_rows',)), tmp_path)
    place = Path(mujoco.__file__).parent
    shared = next(path for path in sorted(place.glob('libmujoco.so*')))
    name = library.name.partition('-')[0]
    parts = [HARNESS, PLUGIN, 'rows.c', 'kernels.o', shared, f'-Wl,-rpath,{place}', '-lm']
    options = [f'-I{place / "include"}', '-I.', f'-DPLUGIN_NAME="{name}"', '-Wall', '-Wextra']
    try:
        program = sanitizers.build(tmp_path, [*options, *parts], sanitizers.ADDRESS)
    except subprocess.CalledProcessError as error:
        pytest.skip(f'NO SANITIZER: {error}')
    done = subprocess.run([program, xml], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    places = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    assert places.shape == (4, 3)
    assert (places[:, 0] > 0.01).all()  # each integrator drives
