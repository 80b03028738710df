# SPDX-License-Identifier: Apache-2.0
"""A mecanum base over real DDS: kane_inverse_dynamics starts with it and follows a reference."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import parameters
from support.base_urdf import BASES

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from feeder import FRAME, Feeder

from kane_dynamics.control.effort_law import EffortLaw, Terms
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.robot_config.parameters.spec import plain
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.robot_config.robot_source import build_model

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def robot(bench):
    text, settings, _, _ = BASES['mecanum']
    values = {name.replace('.', '_'): plain(value) for name, value in settings.items()}
    p = parameters(InverseDynamicsParameters, base_type='mecanum', base_frame_id=FRAME, **values)
    model = build_model(p, text)
    shown = {name: f'[{", ".join(map(str, value))}]' for name, value in settings.items()}
    bench.start(
        'inverse_dynamics_node',
        params={
            'robot_description': f"'{text}'",
            'base_type': 'mecanum',
            'base_frame_id': FRAME,
            'compiled': 'never',
            'timeout_action': 'hold_gravity',
            **shown,
        },
    )
    feeder = Feeder(bench, model)
    bench.matched(feeder.joints)
    bench.matched(feeder.reference)
    return feeder


def test_it_holds_and_follows_wheels_that_nearly_agree(robot):
    model = robot.model
    law, held = EffortLaw(Dynamics(model)), robot.healthy()
    assert list(held.name) == list(model.motors)
    lift = model.motors.index('lift_joint')
    assert_allclose(held.effort[lift], 2.0 * 9.81, atol=1e-9)
    q = np.zeros(model.robot.nq)
    assert_allclose(held.effort, law.hold(q, Terms()), atol=1e-9)
    del robot.efforts[:]
    names = [name for name in model.motors if name != 'lift_joint']
    ahead = [[0.0] * 4, [1.0, 1.0, 1.0, 1.01], [2.0] * 4]

    def feed():
        robot.send_reference(names, *ahead, stamped=True)
        robot.send()

    def pushed():
        wheels = [model.motors.index(name) for name in names]
        return [m for m in robot.answers() if min(np.array(m.effort)[wheels]) > 0.0]

    message = robot.bench.until(pushed, each=feed)[-1]
    assert np.isfinite(message.effort).all()
