# SPDX-License-Identifier: Apache-2.0
"""The window on topics: a simulated robot stands where it is, with its forces; no browser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
pytest.importorskip('viser', reason='the extra "view" is not installed')

from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty, Trigger

from kane_dynamics import cli
from kane_dynamics.ros.live_view import LiveView

pytestmark = pytest.mark.ros
PLACE = [0.5, -0.25, 0.7]


@pytest.fixture
def live(bench):
    parameters = {
        'urdf_file': str(ROOT / 'robots' / 'nonholonomic.urdf'),
        'base_type': 'diff_drive',
        'base.left_wheel_names': ['wheel_left_joint'],
        'base.right_wheel_names': ['wheel_right_joint'],
    }
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    view = LiveView(port=8711, context=bench.context, parameter_overrides=overrides)
    bench.executor.add_node(view)
    view.start()
    yield view
    bench.executor.remove_node(view)
    view.stop()
    view.destroy_node()


def test_a_simulated_robot_is_shown_with_its_forces(bench, live):
    files = [ROOT / 'config' / 'nonholonomic.yaml']
    chosen = {'compiled': 'never', 'start_paused': 'true', 'initial_pose': PLACE}
    bench.start('simulator_node', files=files, params={**chosen, 'base_frame_id': 'base_link'})
    base = live.scene.bodies['base_footprint']
    bench.until(
        lambda: np.allclose(base.position[:2], PLACE[:2], atol=1e-9),
        each=lambda: bench.call(Empty, '/kane_simulator/reset'),  # a paused one is silent
    )
    half = 0.5 * PLACE[2]
    assert_allclose(base.wxyz, [np.cos(half), 0.0, 0.0, np.sin(half)], atol=1e-9)
    bench.until(
        lambda: 'wheel_left_joint/rolling' in live._table.content,
        each=lambda: bench.call(Trigger, '/kane_simulator/step'),
    )
    assert 'holds' in live._table.content and ' N<' in live._table.content


def test_what_cannot_be_shown_is_left_out(bench, live):
    before = list(live.scene.bodies['arm_2_link'].wxyz)
    live._on_joints(JointState(name=['arm_2_joint'], position=[float('nan')]))
    live._on_joints(JointState(name=['arm_2_joint'], position=[]))
    live._on_forces(JointState(name=['a', 'b'], effort=[1.0]))
    live.show()
    assert list(live.scene.bodies['arm_2_link'].wxyz) == before
    assert live._joints.guard.rejected == {'nan': 1, 'short': 1} and not live._forces
    live._on_joints(JointState(name=['arm_2_joint', 'hand'], position=[0.4, 7.0]))
    live._on_forces(JointState(name=['table/contact'], effort=[3.0]))
    live.show()
    assert list(live.scene.bodies['arm_2_link'].wxyz) != before
    assert 'table/contact' in live._table.content and live.scene.arrows == {}


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['view'], 'need either a recording or a robot, or --live'),
        (['view', 'robot.urdf', '--live'], 'need either a recording or a robot, or --live'),
        (['view', '--live', '--urdf', 'x.urdf', '--gif', 'x.gif'], 'got --urdf, --gif, too'),
        (['view', 'robot.urdf', '--ros-args'], '--ros-args is only valid with view --live'),
    ],
)
def test_arguments(arguments, message, capsys):
    try:
        assert cli.main(arguments) == 1
    except SystemExit as error:
        assert error.code == 2
    assert message in ' '.join(capsys.readouterr().err.split())
