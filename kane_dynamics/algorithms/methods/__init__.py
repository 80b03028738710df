# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by every formulation of the papers, on the same terms and rows."""

from collections.abc import Callable

from kane_dynamics.algorithms.methods.canonical import by_canonical
from kane_dynamics.algorithms.methods.gauss import by_gauss
from kane_dynamics.algorithms.methods.gibbs_appell import by_gibbs_appell
from kane_dynamics.algorithms.methods.kane import by_kane
from kane_dynamics.algorithms.methods.lagrange import by_lagrange
from kane_dynamics.algorithms.methods.motion import Motion
from kane_dynamics.algorithms.methods.newton_euler import by_newton_euler
from kane_dynamics.algorithms.methods.nonminimal import by_nonminimal
from kane_dynamics.algorithms.methods.problem import Problem

METHODS: dict[str, Callable[[Problem], Motion]] = {
    'gauss': by_gauss,
    'newton_euler': by_newton_euler,
    'gibbs_appell': by_gibbs_appell,
    'lagrange': by_lagrange,
    'kane': by_kane,
    'nonminimal': by_nonminimal,
    'canonical': by_canonical,
}
SPEED_METHODS = ('kane', 'nonminimal', 'canonical')
