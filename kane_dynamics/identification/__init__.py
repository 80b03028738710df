# SPDX-License-Identifier: Apache-2.0
"""What measured motions and efforts say: external efforts, contacts, payloads. No ROS here."""
