# SPDX-License-Identifier: Apache-2.0
"""What a soak does to nodes at once: parameters, models, stops, kills."""

import itertools
import re
import signal

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from soak_nodes import LOOP, SIMULATOR
from std_msgs.msg import String
from std_srvs.srv import Empty

UNDER_WAY = 1.0  # [s] in which the last states may still be answered: a watchdog's second
STANDSTILL = 0.5  # [s] for which a node gets no processor
HEAVIER = 1.3  # part of the mass of the last link in another model
CARRIED = (0.5, 0.0)  # [kg] on the tool, in turn
SERVICE = 5.0  # [s] for an answer


def double(name, value):
    """Return a parameter."""
    kind = ParameterType.PARAMETER_DOUBLE
    return Parameter(name=name, value=ParameterValue(type=kind, double_value=value))


class Actions:
    """
    The actions, by name.

    Parameters
    ----------
    soak : Soak
        Whose nodes they happen to.

    """

    def __init__(self, soak):
        self._soak = soak
        self._victims = itertools.cycle(soak.peers)
        self._stopped = itertools.cycle(soak.processes)
        self._carried = itertools.cycle(CARRIED)
        self._heavier = itertools.cycle((HEAVIER, 1.0))
        self._actions = {
            'reset': self._reset,
            'parameters': self._parameters,
            'describe again': self._describe_again,
            'describe another': self._describe_another,
            'describe badly': self._describe_badly,
            'stop a node': self._stop,
            'kill a peer': self._kill_peer,
            'kill': self._kill_simulator,
        }

    def act(self, name):
        """Do what a fault calls by this name."""
        self._actions[name]()

    def _call(self, kind, name, request):
        soak = self._soak
        client = soak.bench.node.create_client(kind, name)
        if client.service_is_ready() or client.wait_for_service(SERVICE):
            future = client.call_async(request)
            soak.spin(SERVICE, future.done)
        soak.bench.node.destroy_client(client)

    def _reset(self):
        self._call(Empty, f'{SIMULATOR}/reset', Empty.Request())

    def _parameters(self):
        """Set what may be set, and what must be refused: a time limit below the period."""
        mass = double('payload.tool_link.mass', next(self._carried))
        good = [mass, double('timeout.joint_states', 0.1), double('feedforward_scale', 1.0)]
        bad = [double('timeout.joint_states', 0.001), double('payload.tool_link.mass', -1.0)]
        for name in self._soak.processes:
            for parameters in (good, bad):
                request = SetParameters.Request(parameters=parameters)
                self._call(SetParameters, f'{name}/set_parameters', request)

    def _describe_again(self):
        text = f'{self._soak.description}<!-- again, {self._soak.count} -->'
        self._soak.text.publish(String(data=text))

    def _describe_another(self):
        """Publish a robot whose last link with a mass is heavier, or as before."""
        factor = next(self._heavier)
        head, mass, tail = self._soak.description.rpartition('<mass value="')
        number = re.match(r'[\d.eE+-]+', tail)[0]
        text = f'{head}{mass}{float(number) * factor!r}{tail[len(number) :]}'
        self._soak.text.publish(String(data=text))

    def _describe_badly(self):
        self._soak.text.publish(String(data='<robot name="nonsense"'))

    def _stop(self):
        process = self._soak.processes[next(self._stopped)]
        process.send_signal(signal.SIGSTOP)
        self._soak.spin(STANDSTILL)
        process.send_signal(signal.SIGCONT)

    def _kill_peer(self):
        name = next(self._victims)
        self._kill(name)
        self._describe_again()  # who comes late hears the last text, which may be nonsense
        self._soak.processes[name] = self._soak.start(name)

    def _kill_simulator(self):
        self._kill(SIMULATOR)
        self._soak.must_be_silent()
        self._soak.spin(UNDER_WAY)
        self._soak.processes[SIMULATOR] = self._soak.start(SIMULATOR)
        self._soak.stamps.clear()

    def _kill(self, name):
        self._soak.processes[name].kill()
        self._soak.processes[name].wait()
        self._soak.said.pop(name, None)
        if name == LOOP:
            self._soak.spin(UNDER_WAY)
