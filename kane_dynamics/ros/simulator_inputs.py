# SPDX-License-Identifier: Apache-2.0
"""What others give to the simulator: wrenches on links, states, and the pose of a device."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from sensor_msgs.msg import JointState

import kane_dynamics as kd
from kane_dynamics.algebra.pose import log
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.control.targets import check_frame, read_pose, read_wrench
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.conversions import NameMap, field_values, nanoseconds
from kane_dynamics.messages.inputs import EventInput, RejectedInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot.robot import WORLD
from kane_dynamics.robot.state import as_pose
from kane_dynamics.robot_config.parameters.tables import DeviceParameters, SimulatorParameters
from kane_dynamics.ros.diagnostics import OK, Status, input_status
from kane_dynamics.ros.runtime import COMMAND, STATE
from kane_dynamics.simulation import CouplerWrenches, VirtualCoupler
from kane_dynamics.typing import Floats

LOST = 5.0  # periods without a pose after which the coupler lets go
_NANO = 1e-9


class DeviceInput(EventInput):
    """Checks poses of the device and lets the coupler act on the plant."""

    wrenches: CouplerWrenches

    def __init__(self, plant: Plant, parameters: DeviceParameters, frame: str) -> None:
        p, robot = parameters, plant.model.robot
        robot.moving_body(p.device_link)
        super().__init__('device pose')
        self._plant, self._link, self._frame = plant, p.device_link, frame
        checked = (p.device_own_damping, p.device_period) if p.device_period else (None, None)
        self._coupler = VirtualCoupler(p.device_stiffness, p.device_damping, *checked)
        self._period = p.device_period or plant.period * _NANO
        self._before: tuple[Floats, int] | None = None

    def accept(self, message: Any) -> None:
        """Check a PoseStamped and let its `wrenches` act until the next one."""
        check_frame('device pose', message, self._frame)
        pose = read_pose('device pose', message)
        twist = self._twist(pose, nanoseconds(message.header.stamp))
        robot, simulation = self._plant.model.robot, self._plant.simulation
        kinematics = kd.forward_kinematics(robot, simulation.q, simulation.v)
        local = kinematics.pose(self._link)
        place = np.array([*local.position(), *local.rotation.components])
        moves = np.asarray(kinematics.jacobian(self._link)) @ simulation.v
        self.wrenches = self._coupler.wrenches(place, moves, pose, twist)
        self._plant.push(self._link, self.wrenches.on_frame, LOST * self._period)

    def answer(self, message: PoseStamped) -> WrenchStamped:
        """Return the wrench on the device, in the axes of the world, for a pose that was taken."""
        answer, turned = WrenchStamped(), message.pose.orientation
        answer.header.stamp, answer.header.frame_id = message.header.stamp, self._frame
        rotation = (turned.w, turned.x, turned.y, turned.z)
        R = kd.Pose.from_rotation_and_position(rotation, (0.0, 0.0, 0.0)).rotation_matrix()
        tau, f = (R @ part for part in self.wrenches.on_device.reshape(2, 3))
        for vector, numbers in ((answer.wrench.torque, tau), (answer.wrench.force, f)):
            vector.x, vector.y, vector.z = numbers.tolist()
        return answer

    def _twist(self, pose: Floats, stamp: int) -> Floats:
        """Return (omega, v) in the axes of the device, from this pose and the one before."""
        before, self._before = self._before, (pose, stamp)
        if before is None or not stamp or not before[1]:
            return np.zeros(6)
        lapse = (stamp - before[1]) * _NANO
        if lapse <= 0.0:
            self._before = before
            raise RejectedInput('order', f'device pose: stamp is {-lapse:.6f} s before the last')
        if lapse > LOST * self._period:
            return np.zeros(6)
        last, now = (as_pose('device pose', x) for x in (before[0], pose))
        step = last.conjugate() * now
        way = step.rotation_matrix().T @ step.position()
        return np.r_[2.0 * vec3(log(step.dual_quaternion()).primary), way] / lapse


class WrenchInput(EventInput):
    """Checks wrenches and hands them to the plant."""

    def __init__(self, plant: Plant, node: Any) -> None:
        super().__init__('external wrench')
        self._plant, self._node = plant, node
        frames = plant.model.robot.frames
        self._links = {name for name, frame in frames.items() if frame.body != WORLD}

    def accept(self, message: Any) -> None:
        """Check a WrenchStamped and let it act."""
        p, link = self._node.parameters, message.header.frame_id
        name = link.removeprefix(p.frame_prefix)
        if name not in self._links or not link.startswith(p.frame_prefix):
            known = sorted(p.frame_prefix + other for other in self._links)
            reason = f"external wrench: no moving link '{link}'; there are {known}"
            raise RejectedInput('frame', reason)
        wrench = read_wrench('external wrench', message)
        self._plant.push(name, wrench, p.timeout_external_wrench)


class StateInput(EventInput):
    """Checks states and sets them on the plant."""

    def __init__(self, plant: Plant) -> None:
        super().__init__('set_state')
        self._plant, robot = plant, plant.model.robot
        names = tuple(name for name in robot.velocity_names if name in robot.coordinate_names)
        self._map = NameMap('set_state', names)
        self._q, self._v = plant.model.q_index(names), plant.model.v_index(names)

    def accept(self, message: Any) -> None:
        """Check a JointState and go on from it."""
        simulation, names = self._plant.simulation, message.name
        q, v = np.array(simulation.q), np.zeros(len(simulation.v))
        source, target = self._map.none_unknown(names)
        q[self._q[target]] = field_values('set_state', 'position', message.position, names, source)
        if len(message.velocity):
            v[self._v[target]] = field_values(
                'set_state', 'velocity', message.velocity, names, source
            )
        try:
            self._plant.set_state(q, v)
        except KaneDynamicsError as error:
            raise RejectedInput('constraint', f'set_state: {error}') from error


class SimulatorInputs:
    """The topics by which others act on a simulator; without a plant they do nothing."""

    def __init__(self, node: Any, on_state: Callable[[], None]) -> None:
        self._node, self._on_state = node, on_state
        self._inputs: dict[str, EventInput] = {}
        self._plant: Plant | None = None
        create = node.create_subscription  # wrenches on several links are several messages
        create(WrenchStamped, '~/external_wrench', partial(self._take, 'wrench'), STATE)
        create(JointState, '~/set_state', self._on_set_state, STATE)
        if node.parameters.device_link:
            create(PoseStamped, '~/device_pose', self._on_pose, COMMAND)
            self._wrench = node.create_publisher(WrenchStamped, '~/device_wrench', COMMAND)

    def prepare(self, plant: Plant) -> None:
        """Listen for a plant; errors as for `DeviceInput`."""
        inputs: dict[str, EventInput] = {
            'wrench': WrenchInput(plant, self._node),
            'state': StateInput(plant),
        }
        p: SimulatorParameters = self._node.parameters
        if p.device_link:
            inputs['device'] = DeviceInput(plant, p, p.frame_prefix + p.odom_frame_id)
        self._plant, self._inputs = plant, inputs

    def _take(self, name: str, message: Any) -> bool:
        return name in self._inputs and self._inputs[name].take(message)

    def _on_set_state(self, message: JointState) -> None:
        if self._take('state', message):
            self._on_state()

    def _on_pose(self, message: PoseStamped) -> None:
        device = self._inputs.get('device')
        if isinstance(device, DeviceInput) and device.take(message):
            self._wrench.publish(device.answer(message))

    def statuses(self) -> dict[str, Callable[[], Status]]:
        """Return the components that the diagnostics report."""
        return {
            'external wrench': self._wrench_status,
            'set_state': lambda: input_status(self._inputs.get('state')),
            'device': self._device_status,
        }

    def _wrench_status(self) -> Status:
        status = input_status(self._inputs.get('wrench'))
        if self._plant is None:
            return status
        return status.plus({'acting on': ' '.join(self._plant.pushed) or '-'})

    def _device_status(self) -> Status:
        if not self._node.parameters.device_link:
            return Status(OK, 'no device')
        return input_status(self._inputs.get('device'))
