# SPDX-License-Identifier: Apache-2.0
"""Closed forms of the shopping cart (Gillespie, example 3; equations.md section 7.9)."""

import numpy as np


class Closed:
    """Closed forms of section 7.9 at a state."""

    def __init__(self, cart, q):
        self.L1, self.L2, self.L3 = cart.com, cart.pivot, cart.trail
        self.m_B, self.m_C, self.I_B = cart.body_mass, cart.caster_mass, cart.body_inertia
        self.c4, self.s4 = np.cos(q[3]), np.sin(q[3])
        self.Z2 = self.L3 - self.L2 * self.c4
        self.Z4 = self.L1 * self.m_B + self.L2 * self.m_C
        Z3 = self.L2 * self.m_C * (self.L2 - self.L3 * self.c4)
        self.Z5 = self.I_B + Z3 + self.m_B * self.L1**2
        self.k = -self.s4 / self.Z2  # (65)

    @property
    def row(self):
        """Return G of (59)."""
        return np.array([-self.s4, self.L2 * self.c4, -self.L3])

    @property
    def free(self):
        """Return D of (60)."""
        return np.array([-self.s4, self.L2 * self.c4]) / self.L3

    def free_inertia_force(self, u, a):
        """Return F_1* and F_2* of (63)."""
        (u1, u2, u3), (a1, a2, _) = u, a
        L1, L2, L3, m_B, m_C, s4, c4 = (
            self.L1,
            self.L2,
            self.L3,
            self.m_B,
            self.m_C,
            self.s4,
            self.c4,
        )
        return (
            (L1 * m_B + L2 * m_C * c4**2) * u2**2
            - L3 * m_C * c4 * u3**2
            - m_C * s4 * c4 * u1 * u2
            - (m_B + m_C * c4**2) * a1
            - L2 * m_C * s4 * c4 * a2,
            m_C * L2**2 * s4 * c4 * u2**2
            - L2 * L3 * m_C * s4 * u3**2
            - (L1 * m_B + L2 * m_C * s4**2) * u1 * u2
            - L2 * m_C * s4 * c4 * a1
            - (self.I_B + m_B * L1**2 + m_C * L2**2 * s4**2) * a2,
        )

    def stuck_inertia_force(self, u, a1, sign=1.0):
        """Return F~_1* of (67); sign -1 is the printed one of the u1 u2 term (E22)."""
        u1, u2, u3 = u
        L2, L3, m_C, s4, c4, Z2 = self.L2, self.L3, self.m_C, self.s4, self.c4, self.Z2
        mass = self.m_B + self.Z5 * s4**2 / Z2**2 + m_C * (1.0 - L3 * s4**2 / Z2)
        return (
            (self.Z4 - L2 * L3 * m_C * s4**2 / Z2) * u2**2
            - L3 * m_C * (c4 - L2 * s4**2 / Z2) * u3**2
            + sign * s4 * (self.Z4 - L3 * m_C * c4) / Z2 * u1 * u2
            - mass * a1
        )

    @property
    def effective_mass(self):
        """Return what u1 moves while the caster sticks."""
        ahead = (self.L2 - self.L3 * self.c4) / self.Z2
        return (
            self.m_B * (1.0 + self.L1**2 * self.k**2) + self.I_B * self.k**2 + self.m_C * ahead**2
        )
