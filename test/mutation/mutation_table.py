# SPDX-License-Identifier: Apache-2.0
"""The wrong signs of `wrong_signs.txt` and the laws, small parts of the suite, that see them."""

from pathlib import Path
from typing import NamedTuple


class Mutation(NamedTuple):
    """A piece of a file of the package, what replaces it, and the law that must break."""

    file: str
    law: str
    text: str
    wrong: str


def read_mutations():
    """Return the mutations in the order of the file."""
    mutations, file, law, text = [], '', '', ''
    for line in (Path(__file__).parent / 'wrong_signs.txt').read_text().splitlines():
        mark, content = line[:2], line[2:]
        if mark == '@ ':
            file, law = content.split()
        elif mark == '- ':
            text = content
        elif mark == '+ ':
            mutations.append(Mutation(file, law, text, content))
    return mutations


MUTATIONS = read_mutations()

_A = 'test/algorithms/test_algorithms_'
_C = 'test/constraints/test_constraints_'
_S = 'test/simulation/test_simulation_'
# pytest arguments for each law; all of them are quick
LAWS = {
    'example': (f'{_A}worked_example.py',),
    'motion': (
        f'{_A}equation_of_motion.py',
        '-k',
        'each_joint_kind or (is_the_eq or skew or quadratic) and (planar-1 or floating-2)',
    ),
    'kinematics': (f'{_A}kinematics.py', '-k', '0 or 1 or 2 or followers'),
    'wrenches': (f'{_A}external_wrenches.py',),
    'forward': (f'{_A}forward.py', '-k', 'friction or armature or (undoes and planar)'),
    'elimination': (f'{_A}elimination.py', '-k', 'planar-1 or udwadia or health or welding'),
    'rows': (f'{_C}rows.py', '-k', 'right_side or newton_needs or satisfies'),
    'rolling': (f'{_C}rolling.py', f'{_C}coin_and_ball.py', '-k', 'not energy'),
    'geometry': (f'{_C}wheel_geometry.py',),
    'joints': (f'{_C}joints_and_loops.py',),
    'pfaffian': (f'{_C}pfaffian.py',),
    'joined': (f'{_C}closed_by_joints.py', '-k', 'not swings'),
    'holonomic': (f'{_C}holonomic.py', '-k', 'rate_of_phi or cartesian or point'),
    'gauss': (f'{_C}gauss.py',),
    'inverse': (f'{_C}inverse.py', '-k', 'drive_with_arm or rheonomic or freedoms'),
    'integrators': (
        f'{_S}integrators.py',
        '-k',
        'constant_force or same_place or (order and floating) or driven or meet or stays_closed',
    ),
    'friction': (f'{_S}friction.py',),
    'divergence': (f'{_S}divergence.py', '-k', 'count_in or (sharp and False)'),
    'events': (f'{_S}rank_events.py', '-k', '(brake and reference) or starts_flat'),
    'midpoint': (f'{_S}midpoint.py', '-k', '(halved or do_no) and reference or jump or fixed'),
    'stops': (f'{_S}stops.py', '-k', 'not pushed'),
    'lagrange': (f'{_A}lagrange.py', '-k', '(planar-1 or floating-2 or 0 or 1) and not traced'),
    'constrained_lagrange': (f'{_A}lagrange_motion.py',),
    'orbit': (f'{_A}orbit.py',),
    'nonlinear': (f'{_C}nonlinear.py', '-k', 'derivative_along or appell or newton'),
    'servo': (f'{_C}acceleration_form.py', '-k', 'not semi'),
    'speeds': (f'{_A}speeds.py', '-k', '(1-planar or 2-floating or sled or edge)'),
    'methods': (f'{_A}methods.py', '-k', '1 or mass or greville or kane'),
    'gibbs': (f'{_A}gibbs.py', '-k', '(1-planar or 2-floating or 0-fixed) and trees'),
    'start': (f'{_S}api.py',),
    'sines': ('test/kernels/test_kernels_sincos.py', '-k', 'constant and 1.0'),
    'trajectories': ('test/control/test_control_trajectory.py',),
}
