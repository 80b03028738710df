# SPDX-License-Identifier: Apache-2.0
"""
Write robots.md and a page for each preset of config/robots; run it after a change of one.

Facts come from the actuation sheet on top of a preset, names from its parameters.
"""

import re
from pathlib import Path

import yaml

PAGE = Path(__file__).resolve().parent / 'robots.md'
PAGES = PAGE.parent / 'robots'
FOLDER = PAGE.parents[1] / 'config' / 'robots'
FACTS = (
    'Source',
    'Base',
    'Wheels',
    'Gravity',
    'Effort unit',
    'Interfaces',
    'Limits',
    'Checked',
    'Not known',
    'Start',
)


def sheet(text):
    """Return the title and the facts of a sheet, the comment lines on top of a preset."""
    lines = [line for line in text.split('/**:')[0].splitlines()[1:] if line]
    facts = {}
    for line in lines[1:]:
        if line.startswith('#   '):
            facts[next(reversed(facts))] += line[3:]
        else:
            name, _, fact = line.removeprefix('# ').partition(': ')
            facts[name] = fact
    return lines[0].removeprefix('# '), facts


def parameters(text):
    """Return the parameters of a preset."""
    return yaml.safe_load(text)['/**']['ros__parameters']


def overview(presets):
    """Return one line a robot."""
    lines = [
        '| `robot:=` | robot | `base_type` | `cmd_vel` | gravity of the arm |',
        '|---|---|---|---|---|',
    ]
    for name, text in presets.items():
        values = parameters(text)
        twist = 'TwistStamped' if values['base']['cmd_vel_stamped'] else 'Twist'
        title, facts = sheet(text)
        unknown = facts['Gravity'].startswith('unknown')
        node = 'unknown [?]' if unknown else 'the controller node'
        gravity = 'the robot' if 'gravity_compensated_joints' in values else node
        lines.append(
            f'| `{name}` | [{title}](robots/{name}.md) | `{values["base_type"]}` | {twist} '
            f'| {gravity} |'
        )
    return '\n'.join(lines)


def gravity(values, facts):
    """Return what to do about gravity before the first effort."""
    compensated = values.get('gravity_compensated_joints')
    if facts['Gravity'].startswith('unknown'):
        return (
            'Nobody is known to compensate gravity, and nobody not to. Support the arm, send '
            'efforts of zero and see whether it sinks. If it stays, name its joints in '
            '`gravity_compensated_joints`: otherwise gravity is held twice and the arm goes up.'
        )
    if compensated:
        return (
            'The robot holds its arm against gravity. The preset leaves gravity out of the '
            f'efforts of {names(compensated)}; nothing else between the node and the motors may '
            'add it.'
        )
    return (
        'The efforts contain gravity. Nothing else between the node and the motors may add it: '
        'switch such a compensation off, or name its joints in `gravity_compensated_joints`.'
    )


def names(joints):
    """Return names of joints as code."""
    return ', '.join(f'`{joint}`' for joint in joints) or '-'


def parameter_table(values):
    """Return what the preset tells the nodes, as a table."""
    base = values['base']
    rows = {
        'joints with a motor that gets efforts': names(values['joints']),
        'joints held where they are': names(values.get('locked_joints', [])),
        'gravity left out of the efforts of': names(values.get('gravity_compensated_joints', [])),
        'base': f'`{values["base_type"]}`, driven by {base["command_interface"]}',
    }
    wheels = [name for key in sorted(base) if key.endswith('_names') for name in base[key]]
    rows['joints of the base'] = names(wheels)
    lines = [f'| {what} | {value} |' for what, value in rows.items()]
    return '\n'.join(['| | |', '|---|---|', *lines])


def robot_page(name, text):
    """Return the page of one robot."""
    title, facts = sheet(text)
    values = parameters(text)
    listed = [f'- **{fact}**: {facts[fact]}' for fact in FACTS if fact != 'Start']
    return '\n'.join(
        [
            '<!-- SPDX-License-Identifier: Apache-2.0 -->',
            '<!-- Made by python doc/update_robots.py -->',
            f'# {title}',
            '',
            f'The preset `{name}`, `config/robots/{name}.yaml`. `[?]`: not confirmed.',
            '',
            '## Start it',
            '',
            'In the steps of [all robots](../robots.md#start-one):',
            '',
            f'- **URDF**: {values["urdf_source_description"]}.',
            f'- **Before efforts reach the arm**: {gravity(values, facts)}',
            '- **Start**:',
            '',
            '```',
            facts['Start'],
            '```',
            '',
            '## Actuation sheet',
            '',
            *listed,
            '',
            '## What the preset says',
            '',
            parameter_table(values),
            '',
        ]
    )


def presets():
    """Return the text of each preset."""
    files = sorted(FOLDER.glob('*.yaml'))
    return {file.stem: file.read_text(encoding='utf-8') for file in files}


def updated(page):
    """Return robots.md with its generated part renewed."""
    found = presets()
    contents = ['```{toctree}', ':hidden:', '', *(f'robots/{name}' for name in found), '```']
    block = '\n'.join(['<!-- sheets -->', '', overview(found), '', *contents, '<!-- end -->'])
    return re.sub('<!-- sheets -->.*<!-- end -->', lambda _: block, page, flags=re.DOTALL)


def pages():
    """Return all generated pages by file."""
    made = {PAGE: updated(PAGE.read_text(encoding='utf-8'))}
    return made | {
        PAGES / f'{name}.md': robot_page(name, text) for name, text in presets().items()
    }


if __name__ == '__main__':
    PAGES.mkdir(exist_ok=True)
    for file, content in pages().items():
        file.write_text(content, encoding='utf-8')
