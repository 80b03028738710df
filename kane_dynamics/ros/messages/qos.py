# SPDX-License-Identifier: Apache-2.0
"""Quality of service, one name per purpose (REP-2003; doc/nodes.md says which topic has which)."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Measured state: the newest counts, from any publisher."""

ALL_PARTS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Measured state from several senders on one topic: the newest of each counts."""

COMMAND = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Commands and references, in and out: the newest counts and must arrive."""

STATE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Published states and results."""

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""robot_description: a late subscriber gets the last message."""
