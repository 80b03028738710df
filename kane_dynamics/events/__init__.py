# SPDX-License-Identifier: Apache-2.0
"""Motion with constraints and contacts that come and go."""

from kane_dynamics.events.event import Event
from kane_dynamics.events.event_simulation import EventSimulation

__all__ = ['Event', 'EventSimulation']
