# SPDX-License-Identifier: Apache-2.0
"""
The table of mistaken calls and what is said to them; run as a script to write it anew.

``python test/mistakes/mistake_table.py`` writes ``messages.txt``; ``... --all`` tries all mistakes
instead of the drawn ones, and prints those that are not refused by name.
"""

import os
import re
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import mistake_calls  # noqa: E402

from kane_dynamics.exceptions import KaneDynamicsError  # noqa: E402

TABLE = HERE / 'messages.txt'
EACH = 2  # wrong values that are drawn for each argument of each call
# drawn for others, legal here: left out, a batch, no limit, NaN in for NaN out
LEGAL = {
    'fast.constrained_inverse_dynamics reference': {'a row', 'infinite', 'nan'},
    'fast.constrained_inverse_dynamics weights': {'none'},
    'fast.limited_inverse_dynamics limits': {'infinite'},
    'kd.limited_inverse_dynamics limits': {'infinite'},
    'kd.load_robot gravity': {'none'},
    'kd.rollout effort': {'none', 'three axes'},
    'kd.rollout gravity': {'a row', 'none'},
}
# of a world without these calls' own work: the wrong argument is refused before anything is built
SLOW = ('kd.compile', 'kd.equations_of_motion', 'learning.ReachEnv', 'learning.ReachVectorEnv')


def mistakes(each=EACH):
    """Return (name, call) of drawn mistakes, the same ones always; of all where `each` is None."""
    drawn = []
    for call in mistake_calls.calls():
        right = {argument: value for argument, (_, value) in call.arguments.items()}
        for argument in right:
            wrong = mistake_calls.wrong_values(call, argument)
            names = sorted({*wrong} - LEGAL.get(f'{call.name} {argument}', set()))
            if each is not None and len(names) > each:
                rng = np.random.default_rng(zlib.crc32(f'{call.name} {argument}'.encode()))
                names = sorted(rng.choice(names, each, replace=False).tolist())
            for name in names:
                arguments = {**right, argument: wrong[name]}
                drawn.append((f'{call.name}({argument}: {name})', call.function, arguments))
    return drawn


def answer(function, arguments):
    """Return the type of the error and its message; what is no error of the family is said so."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        try:
            function(**arguments)
        except KaneDynamicsError as error:
            return type(error).__name__, str(error)
        except Exception as error:  # noqa: BLE001  what must not happen, to be shown
            return f'NOT OF THE FAMILY: {type(error).__name__}', str(error)
    return 'ACCEPTED', ''


def normalised(message):
    """Return a message without numbers and without the value that came, which numpy prints."""
    message = re.sub(r'(got [a-z ]*\w+).*', r'\1 ...', ' '.join(message.split()))
    message = message.replace(os.sep, '/')
    return re.sub(r'-?\d+(\.\d+)?(e[+-]?\d+)?', '#', message)


def lines():
    """Yield the lines of the table."""
    for name, function, arguments in mistakes():
        kind, message = answer(function, arguments)
        yield f'{name} | {kind} | {normalised(message)}'


def main():
    """Write the table, or try everything."""
    if '--all' in sys.argv:
        tried = [(name, answer(*call)) for name, *call in mistakes(None)]
        wrong = [(name, *said) for name, said in tried if not said[0].endswith('Error')]
        wrong += [(name, *said) for name, said in tried if said[0].startswith('NOT')]
        print(len(tried), 'mistakes;', len(wrong), 'not refused by name')
        for line in wrong:
            print(*line)
        return
    head = '# SPDX-License-Identifier: Apache-2.0\n# Written by mistake_table.py; see there.\n'
    TABLE.write_text(head + '\n'.join(lines()) + '\n')


if __name__ == '__main__':
    main()
