# SPDX-License-Identifier: Apache-2.0
"""A new robot_description is taken as a whole or not at all, over real DDS."""

import fcntl
import gc
import platform
import time
import weakref
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from ros_bench import LATCHED, START_TIMEOUT, domain_id
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from kane_dynamics.ros import runtime
from kane_dynamics.ros.effort_controller_node import EffortControllerNode
from kane_dynamics.ros.simulator_node import SimulatorNode

pytestmark = pytest.mark.ros
NODE = 'kane_inverse_dynamics'
ERROR, WARN = b'\x02', b'\x01'
HEAP = 1 << 26  # [bytes] of a thread


def chain(*joints):
    """Return the URDF of rods that hang one on the other."""
    links, parent = ['<link name="base_link"/>'], 'base_link'
    for name in joints:
        links.append(
            f'<link name="{name}_rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>'
            '<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}_rod"/><origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/></joint>'
        )
        parent = f'{name}_rod'
    return f'<robot name="chain">{"".join(links)}</robot>'


TWO, ONE = chain('shoulder', 'elbow'), chain('shoulder')


class Feeder:
    """Publishes the state of both joints, and records the efforts with their arrival."""

    def __init__(self, bench, process, cache):
        self.bench, self.process, self.cache, self.efforts = bench, process, cache, []
        self.joints = bench.publisher(JointState, 'joint_states')
        self.description = bench.publisher(String, 'robot_description', LATCHED)
        bench.node.create_subscription(JointState, f'/{NODE}/effort', self.take, 50)

    def take(self, message):
        self.efforts.append((time.monotonic(), list(message.name), np.array(message.effort)))

    def send(self):
        message = JointState(name=['shoulder', 'elbow'], position=[1.0, 0.2], velocity=[0.0] * 2)
        self.joints.publish(message)

    def feed_until(self, condition):
        return self.bench.until(condition, each=self.send, period=0.01)


@pytest.fixture(scope='module')
def feeder(bench, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp('cache')
        patch.setenv('XDG_CACHE_HOME', str(cache))
        process = bench.start(
            'inverse_dynamics_node',
            params={'compiled': 'wait', 'gravity_compensated_joints': '[shoulder]'},
        )
    return Feeder(bench, process, cache / 'kane_dynamics')


@contextmanager
def compilations_wait(feeder):
    """Take the turn of all compilations, which else end before a status is published."""
    feeder.cache.mkdir(mode=0o700, exist_ok=True)
    with (feeder.cache / 'warm_up.lock').open('w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_wait_gives_no_effort_before_the_code_is_there_and_says_so(feeder):
    feeder.bench.matched(feeder.description)
    with compilations_wait(feeder):
        feeder.description.publish(String(data=TWO))
        feeder.bench.until(
            lambda: 'compiling the dynamics' in feeder.bench.status(f'{NODE}: model')[1],
            each=feeder.send,
        )
        assert feeder.efforts == []
    feeder.feed_until(lambda: feeder.efforts)
    assert feeder.efforts[0][1] == ['shoulder', 'elbow']
    feeder.bench.status_where(
        f'{NODE}: model',
        lambda level, text, values: values.get('dynamics') == 'compiled',
        feeder.send,
    )


def test_the_node_works_while_a_new_model_is_compiled_and_zeros_the_old_names(feeder):
    feeder.feed_until(lambda: len(feeder.efforts) > 5)
    del feeder.efforts[:]
    begin = time.monotonic()
    text = f'{NODE}: model'
    with compilations_wait(feeder):
        feeder.description.publish(String(data=ONE))
        feeder.feed_until(lambda: 'model from before is in use' in feeder.bench.status(text)[1])
        # the services answer, and the law goes on, while it compiles
        for on in (False, True):
            assert feeder.bench.call(SetBool, f'/{NODE}/enable', data=on).success
    feeder.feed_until(lambda: feeder.efforts[-1][1] == ['shoulder'])
    arrivals = np.array([arrival for arrival, _, _ in feeder.efforts])
    assert len(arrivals) > 20
    # a blocked executor was silent for all of the compilation, about 5 s
    assert np.diff(arrivals).max() < 0.5 * (arrivals[-1] - begin)
    change = [names for _, names, _ in feeder.efforts].index(['shoulder'])
    _, names, last = feeder.efforts[change - 1]
    assert names == ['shoulder', 'elbow']
    assert not last.any()


def test_a_model_that_cannot_be_used_changes_nothing(feeder):
    feeder.feed_until(lambda: feeder.efforts[-1][1] == ['shoulder'])
    del feeder.efforts[:]
    feeder.description.publish(String(data=chain('other')))  # not the joint that is compensated
    name = f'{NODE}: model'
    feeder.feed_until(lambda: 'gravity_compensated_joints' in feeder.bench.status(name)[1])
    level, line, values = feeder.bench.status(name)
    assert level == ERROR
    assert 'from before is in use' in line
    assert values['joints'] == 'shoulder'
    count = len(feeder.efforts)
    feeder.feed_until(lambda: len(feeder.efforts) > count + 5)
    assert {tuple(names) for _, names, _ in feeder.efforts} == {('shoulder',)}
    feeder.description.publish(String(data=ONE))  # taken back
    feeder.feed_until(lambda: feeder.bench.status(name)[1] != line)
    assert feeder.bench.status(name)[0] != ERROR


def heaps_of_threads(pid):
    """Return where glibc has a heap of a thread: 64 MB, some in use and the rest reserved."""
    lines = [line.split() for line in Path(f'/proc/{pid}/maps').read_text().splitlines()]
    found, start = [], 0
    for span, access, *_ in lines:
        begin, end = (int(x, 16) for x in span.split('-'))
        start = begin if access.startswith('rw') and begin % HEAP == 0 else start
        if access.startswith('---') and start and end == start + HEAP:
            found.append(start)
    return found


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='other heaps')
def test_models_are_built_in_the_heap_of_the_node(feeder):
    """Regression: 0.63 MB a minute in a soak, 0.2 to 0.6 MB for each new model."""
    feeder.description.publish(String(data=f'{ONE}<!-- again -->'))
    feeder.feed_until(lambda: feeder.efforts and feeder.efforts[-1][1] == ['shoulder'])
    assert len(heaps_of_threads(feeder.process.pid)) <= 2  # of threads that rclpy's import starts


def test_another_c_library_keeps_its_heaps(monkeypatch):
    asked = []
    monkeypatch.setattr(runtime.ctypes, 'CDLL', lambda name: asked.append(name) or object())
    runtime.use_one_heap()
    assert asked == [None]


def test_without_a_compiler_there_is_one_clear_error(bench, tmp_path, monkeypatch):
    (tmp_path / 'llvmlite.py').write_text('raise RuntimeError("LLVM IR parsing error")')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    starts = {
        'auto': ('inverse_dynamics_node', {'compiled': 'auto'}),
        'wait': ('inverse_dynamics_node', {'compiled': 'wait'}),
        'plant': ('simulator_node', {'compiled': 'wait'}),
    }
    processes = [
        bench.start(
            module,
            params={**params, 'robot_description': f"'{ONE}'"},
            arguments=['-r', f'__node:={name}', '-r', f'__ns:=/{name}'],
        )
        for name, (module, params) in starts.items()
    ]
    words = 'LLVM IR parsing error'
    for name in starts:
        bench.until(lambda n=name: words in bench.status(f'{n}/{n}: model')[1])
    assert bench.status('auto/auto: model')[0] == WARN
    assert bench.status('wait/wait: model')[0] == ERROR
    assert bench.status('plant/plant: model')[0] == ERROR
    joints = bench.publisher(JointState, '/auto/joint_states')
    efforts = bench.listen(JointState, '/auto/auto/effort')
    message = JointState(name=['shoulder'], position=[1.0], velocity=[0.0])
    bench.until(lambda: efforts, each=lambda: joints.publish(message))
    for process in processes:
        assert process.poll() is None
        assert 'Traceback' not in process.log.read_text()
        assert bench.terminate(process) == 0


@pytest.mark.parametrize('kind', [EffortControllerNode, SimulatorNode])
def test_a_model_that_is_swapped_out_is_gone_at_once(kind, tmp_path, monkeypatch):
    """Regression: rclpy keeps a reference to each timer that was, and that kept its model."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    node = kind(context=context, use_global_arguments=False)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    node.start()
    gone, entities = [], set()
    gc.disable()  # left to itself it frees a model after dozens of them
    try:
        for number in range(3):
            text = f'{ONE}<!-- {number} -->'
            node.host._on_text(String(data=text))
            end = time.monotonic() + START_TIMEOUT
            while node.host.model is None or node.host.model.text != text:
                executor.spin_once(0.1)
                assert time.monotonic() < end
            assert [reference() for reference in gone] == [None] * number
            while not node.host.dynamics.compiled:  # the first time
                executor.spin_once(0.1)
                assert time.monotonic() < end
            gone.append(weakref.ref(node.host.dynamics.engine))
            entities.add(len(node.default_callback_group.entities))
        assert len(entities) == 1  # no more than of the first model
    finally:
        gc.enable()
        node.stop()
        executor.shutdown()
        node.destroy_node()
        context.try_shutdown()
