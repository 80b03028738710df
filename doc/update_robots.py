# SPDX-License-Identifier: Apache-2.0
"""Write the actuation sheets of config/robots into robots.md; run it after a change of one."""

import re
from pathlib import Path

import yaml

PAGE = Path(__file__).resolve().parent / 'robots.md'
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
        lines.append(f'| `{name}` | {title} | `{values["base_type"]}` | {twist} | {gravity} |')
    return '\n'.join(lines)


def section(name, text):
    """Return the sheet of one robot."""
    title, facts = sheet(text)
    lines = [f'## {title}: `{name}`', '']
    lines += [f'- **{fact}**: {facts[fact]}' for fact in FACTS if fact != 'Start']
    lines += [f'- **URDF**: {parameters(text)["urdf_source"]}', '', '```', facts['Start'], '```']
    return '\n'.join(lines)


def updated(page):
    """Return the page with its generated part renewed."""
    files = sorted(FOLDER.glob('*.yaml'))
    presets = {file.stem: file.read_text(encoding='utf-8') for file in files}
    sections = [section(name, text) for name, text in presets.items()]
    block = '\n\n'.join(['<!-- sheets -->', overview(presets), *sections, '<!-- end -->'])
    return re.sub('<!-- sheets -->.*<!-- end -->', lambda _: block, page, flags=re.DOTALL)


if __name__ == '__main__':
    PAGE.write_text(updated(PAGE.read_text(encoding='utf-8')), encoding='utf-8')
