# SPDX-License-Identifier: Apache-2.0
"""
Topics, services and actions of each node, beside those in nodes.txt.

A change of a node's interface shows as a change of that file: `python
test/ros/test_ros_node_snapshot.py`. Parameters have the tables of doc/nodes.
"""

import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from kane_dynamics.robot_config.nodes import NODES  # noqa: E402

SNAPSHOT = Path(__file__).with_name('nodes.txt')
STANDS = 5  # looks, 3 s apart, at which nothing new was discovered: a machine may be busy
OF_EVERY_NODE = ('/rosout', '/parameter_events')
STANDARD = ('rcl_interfaces/', 'type_description_interfaces/', 'lifecycle_msgs/')
OPTIONAL = ' tf2_msgs/', ' control_msgs/'  # not on PyPI


def policy(endpoint):
    """Return type and QoS of an endpoint in words."""
    qos = endpoint.qos_profile
    words = (qos.reliability, qos.durability)
    return f'{endpoint.topic_type} {" ".join(word.name.lower() for word in words)}'


def endpoints(node, name):
    """Yield a line for each topic that a node publishes or reads, with type and QoS."""
    for verb, topics, infos in (
        (
            'publishes',
            node.get_publisher_names_and_types_by_node,
            node.get_publishers_info_by_topic,
        ),
        (
            'reads',
            node.get_subscriber_names_and_types_by_node,
            node.get_subscriptions_info_by_topic,
        ),
    ):
        for topic, _ in topics(name, '/'):
            if topic not in OF_EVERY_NODE and '/_action/' not in topic:
                found = [policy(e) for e in infos(topic) if e.node_name == name]
                yield from (f'{verb} {topic} {words}' for words in sorted(set(found)))


def served(node, name):
    """Yield a line for each service and action of a node; those of every node are left out."""
    for service, types in node.get_service_names_and_types_by_node(name, '/'):
        if '/_action/' in service:
            if service.endswith('/_action/send_goal'):
                kind = types[0].removesuffix('_SendGoal')
                yield f'acts {service.removesuffix("/_action/send_goal")} {kind}'
        elif not types[0].startswith(STANDARD):
            yield f'serves {service} {types[0]}'


def interface(node):
    """Return the lines of all nodes that are discovered so far."""
    lines = {
        f'{name} {line}'
        for name in set(NODES) & set(node.get_node_names())
        for line in (*endpoints(node, name), *served(node, name))
    }
    return sorted(line for line in lines if not any(word in line for word in OPTIONAL))


def lines_of(bench, wanted=()):
    """Start all nodes in one process and return their interface, once it is there or stands."""
    files = [ROOT / 'config' / 'nonholonomic.yaml']
    bench.start('container', names=tuple(NODES), params={'compiled': 'never'}, files=files)
    bench.until(lambda: set(NODES) <= set(bench.node.get_node_names()))
    lines, stands = interface(bench.node), 0
    while lines != wanted and stands < STANDS:
        bench.spin(3.0)
        before, lines = lines, interface(bench.node)
        stands = stands + 1 if lines == before else 0
    return lines


@pytest.fixture(scope='module')
def lines(bench):
    """Return the interface of all nodes, which one process runs."""
    return lines_of(bench, SNAPSHOT.read_text(encoding='utf-8').splitlines())


def test_topics_services_and_actions_are_those_of_the_snapshot(lines):
    before = SNAPSHOT.read_text(encoding='utf-8').splitlines()
    changed = sorted(set(lines) ^ set(before))
    assert changed == [], 'run this file to take a change on purpose into nodes.txt'


if __name__ == '__main__':
    from ros_bench import Bench

    bench = Bench(tempfile.mkdtemp())
    SNAPSHOT.write_text('\n'.join(lines_of(bench)) + '\n', encoding='utf-8')
    bench.close()
