# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: found again, rebuilt when anything changed, never trusted blindly."""

import ast
import dataclasses
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import error
from numpy.testing import assert_array_equal
from support.machines import inertia, prismatic, revolute, sled_with_arm

import kane_dynamics as kd
from kane_dynamics.compiler import cache, recipe
from kane_dynamics.compiler.cache import CachedKernel, load_kernels, store_kernels
from kane_dynamics.compiler.law import Law

POSIX = pytest.mark.skipif(not hasattr(os, 'getuid'), reason='file modes of POSIX')
KERNELS = {
    'one': CachedKernel(b'\x00\x01code', (2, 3), ((2,), ()), 17),
    'two': CachedKernel(b'', (0,), ((0, 7),), 0),
}
MAGIC = b'kane_dynamics kernels 1\n'


def crane(mass=2.0, **joint):
    """Return a slide with a pendulum, which compiles in a second."""
    bodies = [
        kd.Body('cart', '', prismatic('cart'), inertia=inertia(mass)),
        kd.Body(
            'rope', 'cart', revolute('rope', (0, 1, 0), **joint), inertia=inertia(1.0, (0, 0, -1))
        ),
    ]
    return kd.Robot('crane', bodies)


def results(fast):
    """Return numbers of a compiled crane, all bits of which are compared."""
    q, v, tau = np.array([0.3, 0.4]), np.array([0.5, -0.6]), np.array([0.7, 0.8])
    run = fast.simulate(q, v, 0.1, effort=tau)
    return np.r_[fast.inverse_dynamics(q, v, tau), fast.acceleration(q, v, tau), run.q[-1]]


def only_file(folder):
    """Return the one file of kernels in the cache."""
    (path,) = folder.glob('*.kernels')
    return path


@pytest.fixture(scope='module')
def kept(tmp_path_factory):
    """Return a compiled crane and the folder that it was stored in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(tmp_path_factory.mktemp('kept')))
        return kd.compile(crane()), Path(os.environ['XDG_CACHE_HOME']) / 'kane_dynamics'


@pytest.fixture
def stored(kept, cache_folder):
    """Return a compiled crane that is in the folder of this test."""
    first, folder = kept
    shutil.copytree(folder, cache_folder)
    return first


class TestCompile:
    """What kd.compile does with the folder."""

    def test_found_again(self, cache_folder):
        first = kd.compile(crane())
        assert (first.source, first.note) == ('compiled', 'not in the cache, stored')
        assert {path.suffix for path in cache_folder.iterdir()} == {'.kernels'}
        said = []
        second = kd.compile(crane(), progress=lambda *args: said.append(args))
        assert (second.source, second.note) == ('cache', 'loaded')
        assert said == []
        assert_array_equal(results(second), results(first))
        assert_array_equal(results(first), results(kd.compile(crane(), cache=False)))
        assert second.instructions == first.instructions

    @POSIX
    def test_nobody_else_may_write_or_look(self, stored, cache_folder):
        assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(only_file(cache_folder).stat().st_mode) == 0o600

    def test_not_asked_for(self, cache_folder):
        fast = kd.compile(crane(), cache=False)
        assert fast.note == 'not asked for'
        assert not cache_folder.exists()

    @pytest.mark.parametrize('damage', ['flip', 'truncate', 'empty', 'foreign', 'folder'])
    def test_damaged_file_is_rebuilt_and_said(self, damage, stored, cache_folder):
        path = only_file(cache_folder)
        data = bytearray(path.read_bytes())
        if damage == 'flip':
            data[len(data) // 2] ^= 1
        if damage == 'folder':
            path.unlink()
            path.mkdir()
        else:
            size = {'truncate': len(data) // 2, 'empty': 0}.get(damage, len(data))
            path.write_bytes(b'\x7fELF' * 100 if damage == 'foreign' else data[:size])
        again = kd.compile(crane())
        assert again.source == 'compiled'
        reason = 'could not be read' if damage == 'folder' else 'is not what was written'
        assert reason in again.note
        assert_array_equal(results(again), results(stored))
        if damage != 'folder':
            assert again.note.endswith('stored')
            assert kd.compile(crane()).source == 'cache'

    @POSIX
    @pytest.mark.parametrize('mode', [0o720, 0o702, 0o777])
    def test_folder_that_others_can_write_is_not_used(self, mode, stored, cache_folder):
        cache_folder.chmod(mode)
        fast = kd.compile(crane())
        assert fast.source == 'compiled'
        assert fast.note.count('can be written by others') == 2  # neither read nor written

    @POSIX
    @pytest.mark.parametrize('mode', [0o620, 0o602, 0o666])
    def test_file_that_others_can_write_is_not_used(self, mode, stored, cache_folder):
        only_file(cache_folder).chmod(mode)
        fast = kd.compile(crane())
        assert fast.source == 'compiled'
        assert 'can be written by others' in fast.note
        assert fast.note.endswith('stored')
        assert stat.S_IMODE(only_file(cache_folder).stat().st_mode) == 0o600

    @POSIX
    def test_file_of_somebody_else_is_not_used(self, stored, monkeypatch):
        monkeypatch.setattr(os, 'getuid', lambda: os.geteuid() + 1)
        assert 'belongs to or can be written by others' in kd.compile(crane()).note

    def test_no_folder_can_be_made(self, tmp_path, monkeypatch):
        blocked = tmp_path / 'file'
        blocked.write_text('not a folder')
        monkeypatch.setenv('XDG_CACHE_HOME', str(blocked))
        fast = kd.compile(crane())
        assert fast.source == 'compiled'
        assert 'could not be stored' in fast.note
        assert error(results(fast), results(kd.compile(crane(), cache=False))) == 0.0

    def test_folder_name_that_no_system_takes(self, monkeypatch):
        monkeypatch.setenv('XDG_CACHE_HOME', '/' + 'x' * 5000)
        fast = kd.compile(crane())
        assert fast.source == 'compiled'
        assert 'could not be' in fast.note

    def test_full_disk_leaves_nothing_behind(self, cache_folder, monkeypatch):
        def no_space(source, target):
            raise OSError(28, 'No space left on device')

        monkeypatch.setattr(os, 'replace', no_space)
        fast = kd.compile(crane())
        assert 'could not be stored: [Errno 28] No space left' in fast.note
        assert list(cache_folder.iterdir()) == []

    def test_code_of_a_law_is_that_of_its_key(self, cache_folder):
        """A law that is another each time it is called is traced once."""
        calls = []

        def fickle(t, q, v):
            calls.append(t)
            return -float(len(calls)) * v

        robot = crane()
        assert kd.compile(robot, effort=fickle).source == 'compiled'
        assert len(calls) == 1
        start = np.array([0.3, 0.4]), np.array([0.5, -0.6])
        fast = kd.compile(robot, effort=lambda t, q, v: -1.0 * v)
        assert fast.source == 'cache'
        expected = kd.dynamics(robot).simulate(*start, 0.1, effort=lambda t, q, v: -v)
        assert error(fast.simulate(*start, 0.1).v[-1], expected.v[-1]) < 1e-12

    def test_functions_of_users_are_stored_by_what_they_compute(self, cache_folder):
        robot = crane()
        q, v = np.array([0.3, 0.4]), np.zeros(2)
        for slope, source in ((1.0, 'compiled'), (2.0, 'compiled'), (1.0, 'cache')):
            row = kd.constraints.pfaffian(
                robot, lambda q, t, slope=slope: [slope * np.sin(q[1]), 1.0], label='row'
            )
            fast = kd.compile(robot, (row,))
            assert fast.source == source
            expected = kd.forward_dynamics(robot, q, v, np.ones(2), (row,)).acceleration
            assert error(fast.acceleration(q, v, np.ones(2)), expected) < 1e-12

    def test_constraints_of_users_classes_are_not_stored(self, cache_folder):
        """Regression: fields were hashed, the code of rows() was not."""
        fast = kd.compile(crane(), (Pull(2.0),))
        assert 'not usable: Pull(factor=2.0)' in fast.note
        assert not cache_folder.exists()

    def test_two_processes_at_once(self, cache_folder):
        code = (
            'import sys, numpy as np\n'
            f'sys.path[:0] = {sys.path!r}\n'
            'from test_compiler_cache import crane, results, kd\n'
            'fast = kd.compile(crane())\n'
            'print(fast.source, results(fast).tobytes().hex())\n'
        )
        environment = {**os.environ, 'XDG_CACHE_HOME': str(cache_folder.parent)}
        children = [
            subprocess.Popen(
                [sys.executable, '-c', code],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [child.communicate(timeout=120) for child in children]
        assert [child.returncode for child in children] == [0, 0], said
        numbers = {out.split()[1] for out, _ in said}
        assert len(numbers) == 1
        assert {path.suffix for path in cache_folder.iterdir()} == {'.kernels'}
        after = kd.compile(crane())
        assert after.source == 'cache'
        assert results(after).tobytes().hex() in numbers


@dataclasses.dataclass(frozen=True)
class Pull:
    """A user's constraint: hashing its field says nothing of its code."""

    factor: float
    labels = ('pull',)

    def rows(self, robot, q, v, t):
        return [kd.constraints.Row({0: 1.0, 1: self.factor})]


def key(robot, constraints=(), frames=('tip',), derivatives=False):
    """Return the fingerprint as `load_kernels` asks for it."""
    return recipe.fingerprint(robot, constraints, frames, derivatives)


class TestFingerprint:
    """Same content, same key; anything else, another key."""

    def test_same_content(self):
        assert key(crane()) == key(crane())
        robot, again = sled_with_arm(), sled_with_arm()
        rows = [(kd.constraints.no_side_slip(r, -0.1),) for r in (robot, again)]
        assert key(robot, rows[0]) == key(again, rows[1])

    def test_every_change_changes_it(self):
        robot, c = crane(), kd.constraints
        bodies = list(robot.bodies)
        moved = dataclasses.replace(
            bodies[1], placement=kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0, 0, 1e-9))
        )
        pitch = [
            kd.Robot('h', [kd.Body('h', '', kd.Joint('h', kd.Helical(pitch=p)))])
            for p in (0.1, 0.2)
        ]
        follower = [
            kd.Robot(
                'm',
                [
                    bodies[0],
                    kd.Body('f', 'cart', prismatic('f'), mimic=kd.Mimic('cart', ratio, offset)),
                ],
            )
            for ratio, offset in ((1.0, 0.0), (-1.0, 0.0), (1.0, 0.5))
        ]
        kinds = [
            kd.Robot('k', [kd.Body('k', '', kd.Joint('k', kind))])
            for kind in (kd.Revolute(), kd.Prismatic(), kd.Spherical(), kd.Free())
        ]
        keys = [
            key(robot),
            key(crane(2.0 + 4e-16)),
            key(crane(damping=0.1)),
            key(crane(friction=0.1)),
            key(crane(armature=0.1)),
            key(dataclasses.replace(robot, gravity=(0, 0, -9.8))),
            key(dataclasses.replace(robot, bodies=[bodies[0], moved])),
            *map(key, pitch),
            *map(key, follower),
            *map(key, kinds),
            key(robot, (c.lock(robot, 'cart'),)),
            key(robot, (c.lock(robot, 'rope'),)),
            key(robot, (c.coupling(robot, 'cart', 'rope', 2.0),)),
            key(robot, (c.coupling(robot, 'cart', 'rope', 2.0, 0.1),)),
            key(robot, (c.lock(robot, 'cart'), c.lock(robot, 'rope'))),
            key(robot, (c.lock(robot, 'rope'), c.lock(robot, 'cart'))),
            key(robot, frames=()),
            key(robot, frames=('tip', 'tip')),
            key(robot, frames=('t', 'ip')),
            key(robot, derivatives=True),
        ]
        assert len(set(keys)) == len(keys)

    def test_every_change_of_a_law_changes_it(self):
        robot = crane()

        def content(law, *gains):
            return Law.of(robot, law, gains).content

        def damper(k):
            return lambda t, q, v: -k * v

        def tuned(k):
            return lambda t, q, v, gains: -gains[k] * v

        assert content(damper(2.0)) == content(lambda t, q, v: -2.0 * v)
        assert content(tuned(0), 2.0) == content(tuned(0), 3.0)  # read when the code runs
        contents = [
            content(damper(2.0)),
            content(damper(2.0 + 5e-16)),  # a number of its closure, by its last digit
            content(lambda t, q, v: 2.0 * v),
            content(lambda t, q, v: -2.0 * q),
            content(lambda t, q, v: -2.0 * v[::-1]),
            content(lambda t, q, v: -2.0 * v - t),
            content(tuned(0), 2.0),
            content(tuned(0), 2.0, 3.0),  # another number of gains
            content(tuned(1), 2.0, 3.0),
        ]
        assert len(set(contents)) == len(contents)

    def test_depends_on_processor_versions_and_sources(self, monkeypatch, tmp_path):
        before = key(crane())
        with monkeypatch.context() as patch:
            patch.setattr(recipe, 'processor', lambda: 'another processor')
            assert key(crane()) != before
        with monkeypatch.context() as patch:
            patch.setattr(recipe, 'version', lambda package: '0.0')
            assert key(crane()) != before
        files = recipe.source_files()
        changed = tmp_path / files[0].name
        changed.write_text(files[0].read_text() + '\n')
        with monkeypatch.context() as patch:
            patch.setattr(recipe, 'source_files', lambda: [changed, *files[1:]])
            assert key(crane()) != before
        assert key(crane()) == before

    def test_sources_hold_all_that_graphs_come_from(self):
        files = {path.name for path in recipe.source_files()}
        assert {
            'mass_matrix.py',
            'newton_euler_by_moments.py',
            'kinematics.py',
            'scalars.py',
            'pfaffian.py',
            'straight_line.py',
            'integrators.py',
            'joint_kinds.py',
        } <= files


class TestFile:
    """The file itself."""

    def test_round_trip(self, tmp_path):
        folder = tmp_path / 'new' / 'folder'
        assert store_kernels(folder, 'key', KERNELS) == 'stored'
        assert load_kernels(folder, 'key') == (KERNELS, 'loaded')
        assert load_kernels(folder, 'other') == (None, 'not in the cache')
        assert load_kernels(tmp_path / 'nowhere', 'key') == (None, 'not in the cache')

    def test_every_flipped_byte_is_seen(self, tmp_path):
        tmp_path.chmod(0o700)
        store_kernels(tmp_path, 'key', KERNELS)
        data = only_file(tmp_path).read_bytes()
        for position in range(len(data)):
            changed = bytearray(data)
            changed[position] ^= 0x10
            only_file(tmp_path).write_bytes(changed)
            kernels, reason = load_kernels(tmp_path, 'key')
            assert kernels is None
            assert 'not what was written' in reason

    @pytest.mark.parametrize(
        'index',
        [
            b'not json',
            b'[1, 2]',
            b'{"one": 3}',
            b'{"one": [1, 2, 3]}',
            b'{"one": [[2], 5, 3, 4]}',
            b'{"one": [[2], [[2]], 3, "4"]}',
            b'\xff\xfe',
            b'',
        ],
    )
    def test_index_that_makes_no_sense(self, index, tmp_path):
        """Regression: a right digest over a wrong index ended in JSONDecodeError."""
        tmp_path.chmod(0o700)
        payload = len(index).to_bytes(8, 'little') + index
        data = MAGIC + hashlib.sha256(payload).digest() + payload
        path = tmp_path / 'key.kernels'
        path.write_bytes(data)
        path.chmod(0o600)
        assert load_kernels(tmp_path, 'key') == (
            None,
            'the index of the file in the cache cannot be read',
        )

    def test_index_is_json(self, tmp_path):
        tmp_path.chmod(0o700)
        store_kernels(tmp_path, 'key', KERNELS)
        data = only_file(tmp_path).read_bytes()
        assert data.startswith(MAGIC)
        payload = data[len(MAGIC) + 32 :]
        size = int.from_bytes(payload[:8], 'little')
        assert set(json.loads(payload[8 : 8 + size])) == {'one', 'two'}
        assert payload[8 + size :] == b'\x00\x01code'


class TestFolder:
    """XDG_CACHE_HOME, else ROS_HOME, else ~/.cache."""

    @pytest.mark.parametrize(
        ('variables', 'expected'),
        [
            ({'XDG_CACHE_HOME': '/x', 'ROS_HOME': '/r', 'HOME': '/h'}, '/x/kane_dynamics'),
            ({'ROS_HOME': '/r', 'HOME': '/h'}, '/r/kane_dynamics'),
            ({'HOME': '/h'}, '/h/.cache/kane_dynamics'),
            ({'XDG_CACHE_HOME': '', 'ROS_HOME': '', 'HOME': '/h'}, '/h/.cache/kane_dynamics'),
        ],
    )
    def test_order(self, variables, expected, monkeypatch):
        for name in ('XDG_CACHE_HOME', 'ROS_HOME', 'HOME'):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert cache.cache_folder() == Path(expected)


def test_nothing_can_be_unpickled():
    modules = set()
    for path in Path(cache.__file__).parent.glob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split('.')[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                modules.add((node.module or '').split('.')[0])
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ('eval', 'exec', '__import__')
    assert modules.isdisjoint({'pickle', 'cPickle', 'dill', 'joblib', 'shelve', 'marshal'})
    assert 'json' in modules
