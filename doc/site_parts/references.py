# SPDX-License-Identifier: Apache-2.0
"""
Links to what is documented under another name: where it is written, or its short name.

`kane_dynamics.robot.robot.Robot` is documented as `kane_dynamics.Robot`, and docstrings say
`Robot`; members are found by class and name. What could be two things leads nowhere.
"""

from collections import defaultdict

from sphinx.util.nodes import make_refnode

from site_parts.public import public_objects

_OBJECTS = {'class', 'data', 'exception', 'function'}


def _documented(app):
    """Return the documented names by every name that may be meant."""
    names = defaultdict(set)
    objects = app.env.domains.python_domain.objects
    for documented, entry in objects.items():
        parts = 1 if entry.objtype in _OBJECTS else 2
        names['.'.join(documented.split('.')[-parts:])].add(documented)
    for public, value in public_objects():
        if public in objects:
            short = public.rpartition('.')[2]
            names[f'{getattr(value, "__module__", "")}.{short}'].add(public)
            names[f'kd.{short}'].add(public)
    return names


def _resolve(app, env, node, content):
    """Return a link to what a reference means, or nothing."""
    if node.get('refdomain') != 'py':
        return None
    if not hasattr(app, 'documented_names'):
        app.documented_names = _documented(app)
    target = node['reftarget'].removesuffix('()')
    found = app.documented_names.get(target, ())
    if len(found) != 1:
        return None
    (name,) = found
    entry = env.domains.python_domain.objects[name]
    source = node['refdoc']
    return make_refnode(app.builder, source, entry.docname, entry.node_id, [content], name)


def setup(app):
    app.connect('missing-reference', _resolve)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
