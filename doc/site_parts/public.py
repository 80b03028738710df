# SPDX-License-Identifier: Apache-2.0
"""The public names of the package: those in `__all__` of it, of its packages and of some files."""

import inspect
from importlib import import_module

# Rooms of many parts are not imported whole: their files say what is public.
PACKAGES = (
    'kane_dynamics',
    'kane_dynamics.algebra',
    'kane_dynamics.bases',
    'kane_dynamics.constraints',
    'kane_dynamics.events',
    'kane_dynamics.exceptions',
    'kane_dynamics.learning',
    'kane_dynamics.robot.resources',
    'kane_dynamics.simulation',
    'kane_dynamics.sweep',
    'kane_dynamics.analysis.base_motion',
    'kane_dynamics.analysis.joint_friction',
    'kane_dynamics.control.governor',
    'kane_dynamics.analysis.motion_limits',
    'kane_dynamics.control.rate_limits',
    'kane_dynamics.analysis.skid_friction',
    'kane_dynamics.analysis.support_polygon',
    'kane_dynamics.analysis.tracking',
    'kane_dynamics.trajectories.joint_trajectory',
    'kane_dynamics.control.wrench_control',
    'kane_dynamics.analysis.contacts',
    'kane_dynamics.analysis.momentum_observer',
    'kane_dynamics.analysis.payload',
    'kane_dynamics.identification.base_parameters',
    'kane_dynamics.identification.friction_selection',
    'kane_dynamics.identification.identification',
    'kane_dynamics.identification.result',
    'kane_dynamics.identification.samples',
    'kane_dynamics.robot.inertial_parameters',
    'kane_dynamics.trajectories.trajectory_files',
    'kane_dynamics.trajectories.paths',
    'kane_dynamics.trajectories.retiming',
    'kane_dynamics.view.animation',
    'kane_dynamics.view.drawing',
    'kane_dynamics.view.event_recorder',
    'kane_dynamics.view.forces',
    'kane_dynamics.view.plots',
    'kane_dynamics.view.recorder',
    'kane_dynamics.view.recording',
)


def public_objects():
    """Return pairs of dotted name and object; of exceptions, the classes written there."""
    pairs = []
    for package in PACKAGES:
        module = import_module(package)
        names = getattr(module, '__all__', None)
        if names is None:
            written = [(n, x) for n, x in vars(module).items() if inspect.isclass(x)]
            names = [name for name, value in written if value.__module__ == package]
        pairs += [(f'{package}.{name}', getattr(module, name)) for name in names]
    return [(name, value) for name, value in pairs if not inspect.ismodule(value)]
