# SPDX-License-Identifier: Apache-2.0
"""Motion with constraints and contacts that come and go."""

from kane_dynamics.events.event_simulation import EventSimulation
from kane_dynamics.events.named_constraints import Event

__all__ = ['Event', 'EventSimulation']
