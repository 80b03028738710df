# SPDX-License-Identifier: Apache-2.0
"""Write cli.md, the reference of all commands, from their parsers; run it after a change."""

import argparse
from pathlib import Path

from kane_dynamics.cli import EXIT_CODES, new_parser

PAGE = Path(__file__).resolve().parent / 'cli.md'
EXAMPLES = {
    'init': 'kane-dynamics init nonholonomic --yes --output my_robot.yaml',
    'demo': 'kane-dynamics demo holonomic',
    'info': 'kane-dynamics info nonholonomic --json',
    'simulate': 'kane-dynamics simulate nonholonomic --duration 2 --velocity wheel_left_joint=2 '
    '--velocity wheel_right_joint=2 --plot motion.png --npz motion.npz',
    'bag': 'kane-dynamics bag nonholonomic rosbag2_2026_11_22 --compute external_effort '
    '--output results --csv results.csv',
    'identify': 'kane-dynamics identify ur10.urdf --bag first --validate second',
    'identify plan': 'kane-dynamics identify plan nonholonomic exciting.yaml '
    '--base-csv twists.csv',
    'report': 'kane-dynamics report identified/parameters.yaml --bag second',
    'add-efforts': 'kane-dynamics add-efforts nonholonomic examples/reach.yaml '
    'reach_with_efforts.yaml',
    'retime': 'kane-dynamics retime nonholonomic examples/reach.yaml reach_fast.yaml',
    'cache': 'kane-dynamics cache nonholonomic\nkane-dynamics cache --older-than 30 --clear',
    'build': 'kane-dynamics build nonholonomic --output nonholonomic_dynamics',
    'equations': 'kane-dynamics equations arm.urdf --format latex',
    'view': 'kane-dynamics view motion.npz',
}
NOTES = {
    'demo': """Four laws drive the same 12 s, so it takes about 1 min.""",
    'simulate': """Efforts are constant. Speeds of wheels and of the base that are not given
follow from the constraints of the base. The summary tells where the energy went: `error` is what
appears from nowhere or gets lost there, by the step of the integrator and by Simpson's rule on the
friction.""",
    'bag': """Bags are those of rosbag2, in sqlite3 or mcap
(`pip install 'kane_dynamics[bag]'`). Messages are checked as the nodes check them; those that are
late, reordered, not finite, corrupt or lack a joint are counted and not used. Where stamps are of
simulated time, `--clock stamps` judges them by the newest stamp so far. What is computed:

- `effort`: what the recorded motion takes, by the law of `kane_inverse_dynamics`. Accelerations
  come from splines through the coordinates, with knots at `--knot-spacing`.
- `external_effort`: what others do to the arm, as `kane_contact_observer`; needs measured efforts.
- `acceleration`: what the measured efforts cause, as `kane_forward_dynamics`.

The results are on `/kane_dynamics/<quantity>`, recorded at the stamps of their states. Payloads
and a tilted gravity, which the nodes have as parameters, are left out, and a remark says so.""",
    'identify': """A recording is a bag with positions and efforts
(`pip install 'kane_dynamics[bag,cones]'`), or a table with the columns `time` [s],
`position:<joint>`, `effort:<joint>` and, where they were recorded, `velocity:<joint>`; of a mobile
base also positions and velocities of `base_x`, `base_y` and `base_yaw` in the world. What it
writes to the folder `--output`, and when it writes no URDF:
[identification.md](identification.md).""",
    'identify plan': """The example takes about 30 s. Joints of `--joints` move, all with motors
where it is left out. Those that no motor moves, and centres of joints without bounds, are where
`--position` says. Collisions are not checked. What the motion is:
[identification.md](identification.md).""",
}
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0; written by doc/update_cli.py -->
# Commands: `kane-dynamics`

`python -m kane_dynamics` is the same command. It needs ROS 2 only for `demo` and `view --live`.

A robot is given in one of these ways, wherever a command takes `ROBOT`:

| What | How |
|---|---|
| a shipped robot, by name | `kane-dynamics info nonholonomic` |
| a URDF or xacro file, or its package:// address | `kane-dynamics info arm.urdf` |
| a parameter file of the nodes | `kane-dynamics info my_robot.yaml` |
| a parameter file that names no URDF | `kane-dynamics info fetch --urdf fetch.urdf` |

`init` writes the parameter file of a URDF; `demo` needs one, or a shipped robot.
With a parameter file the robot has the base, constraints and motors of the nodes. A URDF alone
has no constraints, and a motor on every speed.

Results go to standard output. Remarks, progress and errors go to standard error. `--json` prints
the result as JSON; numbers that are not finite, as unknown limits, are null there. Output that is
no terminal has no colours; `NO_COLOR=1` leaves them out everywhere. Commands that compute motions
compile the robot the first time, which takes about 5 s; later they load it from the cache.

Exit codes:

| Code | Meaning |
|---|---|
"""


def page():
    """Return the page."""
    parser = new_parser()
    lines = [HEAD + '\n'.join(f'| {code} | {text} |' for code, text in EXIT_CODES.items())]
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {one.dest: one.help for one in commands._choices_actions}
    for name, command in commands.choices.items():
        lines.append(f'\n## {name}\n\n{_sentence(helps[name])}\n')
        lines.append(f'```bash\n{EXAMPLES[name]}\n```\n')
        if name in NOTES:
            lines.append(NOTES[name] + '\n')
        lines.append('| Argument | Default | Meaning |\n|---|---|---|')
        lines += [_row(action) for action in command._actions if action.dest != 'help']
    return '\n'.join(lines) + '\n'


def _sentence(text):
    return f'{text[0].upper()}{text[1:]}.'


def _row(action):
    """Return the row of one argument."""
    name = max(action.option_strings, key=len, default='')
    value = action.metavar or (action.dest if not name else action.dest.upper())
    takes = '' if name and action.nargs == 0 else value
    if action.choices:
        takes = value if action.metavar or not name else ''
    shown = ' '.join(part for part in (name, takes) if part)
    default = action.default
    plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    known = f'`{default}`' if plain and str(default) else ''
    meaning = action.help or ''
    if action.choices:
        choices = ', '.join(map(str, action.choices))
        meaning = f'{meaning}; one of {choices}' if meaning else f'one of {choices}'
    if isinstance(action, argparse._AppendAction):
        meaning += '; may come more than once'
    return f'| `{shown}` | {known} | {meaning.replace("|", "or")} |'


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
