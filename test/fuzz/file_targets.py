# SPDX-License-Identifier: Apache-2.0
"""Targets that read texts and files: robots, parameters, trajectories, recordings, kernels."""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import sources
from campaign import Target
from changes import NUMBERS, WORDS, changed, changed_bytes

import kane_dynamics as kd
from kane_dynamics.compiler import cache
from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters import tables
from kane_dynamics.robot_config.parameters.tables import (
    SimulatorParameters,
    TrajectoryFeedforwardParameters,
)
from kane_dynamics.robot_config.robot_source import model_of_file, parameters_of_file
from kane_dynamics.trajectories.trajectory_files import read_trajectory
from kane_dynamics.view.drawing import Drawing, Shape, sphere
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.recording import load_recording

SHARED = Path('/dev/shm')  # memory: files cost little there
FOLDER = Path(tempfile.mkdtemp(prefix='fuzz-', dir=SHARED if SHARED.is_dir() else None))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
BASES = ('fixed', 'planar', 'floating')


def written(name, content):
    """Return a file with the content: bytes, or text whose lone surrogates stay what they are."""
    path = FOLDER / name
    data = content if isinstance(content, bytes) else content.encode('utf-8', 'surrogatepass')
    path.write_bytes(data)
    return path


# robots


def draw_urdf(random):
    """Return a changed URDF, mostly of a few links, and how to load it."""
    source = random.choice(sources.ROBOTS if random.random() < 0.92 else sources.FILES)
    return changed(random, source)


def load_urdf(text):
    """Load a URDF as a str; how depends on its length, so that it is the same one always."""
    if '<' not in text:
        text += '<'  # else it would be the name of a file
    snap = len(text) % 5 == 0
    kd.load_urdf(text, base=BASES[len(text) % 3], snap_angles=snap)


def draw_urdf_bytes(random):
    """Return the bytes of a URDF in one of several encodings, changed."""
    text = random.choice(sources.ROBOTS).text
    encoding = random.choice(('utf-8', 'utf-8', 'utf-8-sig', 'utf-16', 'latin-1', 'utf-32'))
    return changed_bytes(random, text.encode(encoding))


def draw_large_urdf(random):
    """Return a robot that is large in one way."""
    n = int(10.0 ** random.uniform(1.0, 4.0))
    kind = random.randrange(8)
    link, joint = sources.LINK, sources.JOINT
    if kind < 3:  # a chain, a star, links without mass
        names = ['base_link', *(f'l{i}' for i in range(n))]
        parents = ['base_link'] * n if kind == 1 else names
        made = [joint.format(f'j{i}', 'revolute', parents[i], f'l{i}', '') for i in range(n)]
        link = '<link name="{}"/>' if kind == 2 else link
        return f'<robot name="r">{"".join(map(link.format, names))}{"".join(made)}</robot>'
    if kind == 3:
        return '<robot name="r">' + '<a>' * (10 * n) + '</a>' * (10 * n) + '</robot>'
    if kind == 4:
        return sources.HINGE.replace('base_link', 'b' * (10 * n))
    if kind == 5:
        return sources.HINGE.replace('0.1 0 0', '1' * (10 * n) + ' 0 0')
    if kind == 6:
        return sources.HINGE.replace('<limit', '<limit ' + ''.join(f'a{i}="" ' for i in range(n)))
    return sources.HINGE.replace('</robot>', '<link/>' * n + '</robot>')


# parameters


def draw_parameters(random):
    """Return the text of a parameter file: a changed one, or one made of the tables."""
    if random.random() < 0.5:
        source = sources.SHORT_PARAMETERS if random.random() < 0.95 else sources.PARAMETERS
        return changed(random, random.choice(source))
    node = NODES[random.choice(sorted(NODES))]
    lines = ['/**: {ros__parameters: {']
    for _ in range(random.choice((1, 1, 2, 4))):
        spec = random.choice(tables.table(node.parameters).specs)
        shown = spec.shown_default if random.random() < 0.2 else random.choice(NUMBERS)
        value = random.choice((shown, f'[{shown}]', f'{{a: {shown}}}', random.choice(WORDS)))
        lines.append(f'  {spec.name.replace("<joint>", "a")}: {value},')
    return '\n'.join([*lines, '}}'])


def read_parameters(text):
    """Read parameters as three nodes do."""
    path = written('parameters.yaml', text)
    table = (TrajectoryFeedforwardParameters, SimulatorParameters)[len(text) % 2]
    parameters_of_file(path, table)


def draw_model(random):
    """Return parameters and the robot that they are for."""
    names = (
        'base_type constraint drive base_frame_id locked_joints joints payloads gravity'.split()
    )
    values = (
        *('none', 'diff_drive', 'planar', 'skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve'),
        *('rolling', 'no_sideslip', 'auto', 'velocity', '[a]', '[b]', '[one]', '[a, a]', "['']"),
        *('base_link', 'nowhere', '[0.0, 0.0, 0.0]', '[1e308, 1e308, 1e308]'),
    )
    kinds = {name: random.choice(values) for name in names if random.random() < 0.15}
    given = [f'    {name}: {value}' for name, value in kinds.items()]
    if random.random() < 0.3:
        wheels = random.choice(('left_wheel_names: [a]', 'wheel_names: [a, b]'))
        given.append(f'    base: {{{wheels}, right_wheel_names: [b], wheel_radius: 0.1}}')
    given.append('    min_point_rate: 10.0')
    return '/**:\n  ros__parameters:\n' + '\n'.join(given) + '\n', draw_urdf(random)


def build_model(given):
    """Build the model of a parameter file and a URDF."""
    text, urdf = given
    model_of_file(written('model.yaml', text), str(written('robot.urdf', urdf)))


# trajectories


def draw_path(random):
    """Return the ending of a trajectory file and its text."""
    ending = random.choices(('json', 'csv', 'yaml'), (6, 6, 1))[0]
    known = {'json': sources.JSON_PATHS, 'csv': sources.CSV_PATHS, 'yaml': sources.YAML_PATHS}
    return ending + '\n' + changed(random, random.choice(known[ending]))


def read_path(given):
    """Read a trajectory; the first line is the ending of its name."""
    ending, _, text = given.partition('\n')
    if ending not in ('json', 'csv', 'yaml'):
        ending = 'csv'
    read_trajectory(written(f'path.{ending}', text))


# recordings and kernels


def _recording():
    robot = kd.load_urdf(sources.HINGE)
    recorder = Recorder(robot, Drawing((Shape(0, *sphere(0.1), (0.8, 0.1, 0.1)),)))
    for time in (0.0, 0.1):
        recorder.add(time, robot.neutral(), np.zeros(1))
    recorder.event(0.05, 'an event')
    return recorder.recording().save(FOLDER / 'right').read_bytes()


def _arrays(data):
    with np.load(io.BytesIO(data)) as archive:
        return {name: archive[name] for name in archive.files}


def make_recordings(data):
    """Return the draw of recordings: bytes of a file changed, or its arrays."""
    arrays = _arrays(data)

    def draw(random):
        if random.random() < 0.5:
            return changed_bytes(random, data)
        given = dict(arrays)
        for _ in range(random.choice((1, 2))):
            name = random.choice(sorted(given))
            given[name] = _other_array(random, given[name])
            if random.random() < 0.2:
                del given[name]
        stream = io.BytesIO()
        if random.random() < 0.1:
            np.savez_compressed(stream, **given)
        else:
            _store(stream, given, random)
        return stream.getvalue()

    return draw


def _store(stream, arrays, random):
    """Write arrays as an npz whose headers may promise anything."""
    with zipfile.ZipFile(stream, 'w') as archive:
        for name, array in arrays.items():
            inner = io.BytesIO()
            np.lib.format.write_array(inner, array, allow_pickle=True)
            content = inner.getvalue()
            if random.random() < 0.1:
                content = content.replace(b'(', random.choice((b'(99999999,', b'(-1,', b'((')), 1)
            if random.random() < 0.05:
                content = changed_bytes(random, content)
            archive.writestr(f'{name}.npy', content)


def _other_array(random, array):
    """Return an array of another shape, type or content."""
    kind = random.randrange(8)
    if kind == 0:
        other = (
            random.choice((np.int8, np.float32, complex)) if array.dtype.kind in 'fi' else 'S40'
        )
        return array.astype(random.choice((other, object, 'U40')))
    if kind == 1:
        return array[..., None]
    if kind == 2:
        return array.ravel()[: random.randrange(3)]
    if kind == 3:
        return np.array(random.choice((np.nan, np.inf, -1, 2**62, 'text', None, b'bytes')))
    if kind == 4:
        return np.zeros((0, *array.shape))
    if kind == 5 and array.dtype.kind in 'fi' and array.size:
        changed_array = np.array(array)
        changed_array.ravel()[random.randrange(array.size)] = random.choice((-1, 99, 2**30))
        return changed_array
    if kind == 6:
        return np.tile(array, random.choice((2, 3)))
    return np.zeros(random.choice((0, 1, 3, (2, 2))), dtype=random.choice(('f8', 'U1', 'M8[s]')))


def read_recording(data):
    """Read a recording."""
    load_recording(written('recording.npz', data))


KERNEL = cache.CachedKernel(b'\x7fELF' + bytes(60), (2, 2), ((2,), (2, 2)), 100)


def draw_kernels(random):
    """Return the bytes of a file of kernels, changed; half of them with the right digest."""
    data = cache._encoded({'mass_matrix': KERNEL, 'bias_force': KERNEL})
    if random.random() < 0.5:
        return changed_bytes(random, data)
    start = len(cache._MAGIC) + 32
    payload = data[start:]
    size = int.from_bytes(payload[:8], 'little')
    index = json.loads(payload[8 : 8 + size])
    wrong = random.choice((None, -1, 1.5, [], {}, 'text', [[]], 2**70, [1, 2, 3, 4, 5], True))
    if random.random() < 0.5:
        index['bias_force'] = wrong
    else:
        index['bias_force'][random.randrange(5)] = wrong
    header = changed_bytes(random, json.dumps(index).encode()) if random.random() < 0.5 else b''
    header = header or json.dumps(index).encode()
    payload = len(header).to_bytes(8, 'little') + header + payload[8 + size :]
    return cache._MAGIC + hashlib.sha256(payload).digest() + payload


def read_kernels(data):
    """Read kernels; what cannot be used is None with a reason, and counts as refused."""
    written('key.kernels', data)
    kernels, reason = cache.load_kernels(FOLDER, 'key')
    if kernels is None:
        raise kd.exceptions.KaneDynamicsError(reason)


def targets():
    """Return the targets of this file."""
    recording = _recording()
    return [
        Target('URDF text', draw_urdf, load_urdf, 0.1),
        Target('URDF file', draw_urdf_bytes, lambda d: kd.load_urdf(written('r.urdf', d)), 0.1),
        Target('URDF large', draw_large_urdf, kd.load_urdf, 0.0002),
        Target('parameter file', draw_parameters, read_parameters, 0.04),
        Target('robot of a parameter file', draw_model, build_model, 0.004),
        Target('trajectory file', draw_path, read_path, 0.25),
        Target('recording', make_recordings(recording), read_recording, 0.03),
        Target('kernels in the cache', draw_kernels, read_kernels, 0.25),
    ]
