# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for launch and launch_ros, which are not on PyPI: they record what they are given."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

NAMES = {
    'launch': ('LaunchDescription',),
    'launch.actions': (
        'DeclareLaunchArgument',
        'IncludeLaunchDescription',
        'LogInfo',
        'OpaqueFunction',
        'Shutdown',
    ),
    'launch.conditions': ('IfCondition',),
    'launch.launch_description_sources': ('PythonLaunchDescriptionSource',),
    'launch.substitutions': (
        'Command',
        'EqualsSubstitution',
        'FindExecutable',
        'LaunchConfiguration',
        'NotEqualsSubstitution',
        'PathJoinSubstitution',
    ),
    'launch_ros': (),
    'launch_ros.actions': ('Node',),
    'launch_ros.parameter_descriptions': ('ParameterFile', 'ParameterValue'),
    'launch_ros.substitutions': ('FindPackageShare',),
}
LAUNCHING = 'kane_dynamics.ros.launching', 'kane_dynamics.ros.launching'


class Recorded:
    """Anything of launch, with its arguments."""

    def __init__(self, *parts, **given):
        self.parts, self.given = parts, given

    def perform(self, context):
        """Return the text of a substitution."""
        if type(self).__name__ == 'LaunchConfiguration':
            name = self.parts[0]
            if name not in context.values:
                return self.given['default']
            context.used.add(name)
            return context.values[name]
        return text(self, context)


def text(part, context=None):
    """Return the text of a value or a substitution."""
    kind = type(part).__name__
    if kind == 'PathJoinSubstitution':
        return '/'.join(text(each, context) for each in part.parts[0])
    if kind == 'FindPackageShare':
        return f'share/{part.parts[0]}'
    return part.perform(context) if isinstance(part, Recorded) else part


def install(monkeypatch):
    """Put the stand-ins in the place of launch; return the helper that imports them."""
    for module, names in NAMES.items():
        made = ModuleType(module)
        for name in names:
            setattr(made, name, type(name, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, module, made)
    # restored, or forgotten again, afterwards: what they hold are stand-ins
    for name in LAUNCHING:
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    made = [importlib.import_module(name) for name in LAUNCHING]
    for name, helper in zip(LAUNCHING, made, strict=True):
        monkeypatch.setitem(sys.modules, name, helper)
    root = str(Path(__file__).resolve().parents[2])
    monkeypatch.setattr(
        made[0], 'Path', lambda file: Path(file.replace('share/kane_dynamics', root, 1))
    )
    return made[0]


class Described:
    """The arguments and the nodes of a launch description."""

    def __init__(self, description):
        parts = description.parts[0]
        self.arguments = {
            part.parts[0]: {key: text(value) for key, value in part.given.items()}
            for part in parts
            if type(part).__name__ == 'DeclareLaunchArgument'
        }
        (self._setup,) = (
            part.given['function'] for part in parts if type(part).__name__ == 'OpaqueFunction'
        )

    def _context(self, values):
        context = type('Context', (), {})()
        context.used = set()
        defaults = {name: given['default_value'] for name, given in self.arguments.items()}
        context.values = {**defaults, **values}
        return context

    def nodes(self, **values):
        """Return what each node is given, under these launch arguments."""
        context = self._context(values)
        found = []
        for node in self._setup(context):
            if type(node).__name__ == 'Node':
                found.append(given(node, context))
        return found

    def includes(self, **values):
        """Return the file and the arguments of each launch file that is included."""
        context = self._context(values)
        return [
            (text(part.parts[0].parts[0], context), dict(part.given['launch_arguments']))
            for part in self._setup(context)
            if type(part).__name__ == 'IncludeLaunchDescription'
        ]

    def used(self):
        """Return the names of the launch arguments that something reads."""
        context = self._context({'robot': 'tiago'})
        for node in self._setup(context):
            _performed(node, context)
        return context.used


def _performed(part, context):
    """Return a part with every substitution inside it performed."""
    if isinstance(part, dict):
        return {key: _performed(value, context) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_performed(value, context) for value in part]
    if not isinstance(part, Recorded):
        return part
    if type(part).__name__ in ('LaunchConfiguration', 'PathJoinSubstitution'):
        return part.perform(context)
    inside = [_performed(value, context) for value in (*part.parts, part.given)]
    return (type(part).__name__, *inside)


def given(node, context=None):
    """Return what a node is given."""
    found = dict(node.given)
    for key in ('parameters', 'arguments', 'remappings'):
        found[key] = [_performed(part, context) for part in found.get(key, ())]
    found['remappings'] = [tuple(pair) for pair in found['remappings']]
    return found


def parameters(given):
    """Return the parameters that a node is given by name."""
    return {
        key: value
        for part in given['parameters']
        if isinstance(part, dict)
        for key, value in part.items()
    }


def files(given):
    """Return the parameter files of a node, in order."""
    return [part[1] for part in given['parameters'] if isinstance(part, tuple)]
