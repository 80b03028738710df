# SPDX-License-Identifier: Apache-2.0
"""Bodies that land on a plane on all their corners or wheels, but for a small angle."""

import numpy as np

import kane_dynamics as kd
from support.machines import Y, at, inertia, revolute
from support.trees import tree_and_state

C = kd.constraints
UP = (0.0, 0.0, 1.0)


def rough(robot, link, point, normal=UP, **options):
    """Return the contact of a point of a link with a rough plane."""
    sides = C.point_contact(robot, link, point, normal), C.point_slip(robot, link, point, normal)
    return C.contact(*sides, **options)


def box_inertia(mass, half):
    """Return the inertia of a homogeneous box about its centre."""
    squares = np.square(half)
    return inertia(mass, (0, 0, 0), mass / 3.0 * (squares.sum() - squares))


def nearly_flat(rng, eps, height):
    """Return coordinates of a free body that is turned by eps [rad] from lying flat."""
    axis = rng.normal(size=3)
    axis *= np.sin(eps / 2) / np.linalg.norm(axis)
    return [0.0, 0.0, height, np.cos(eps / 2), *axis]


def box(rng, corners, thin=False):
    """Return a box or plate, and the contacts at 2 (edge), 4 (face) or 8 of its corners."""
    half = rng.uniform(0.1, 0.5, 3)
    half[2] *= 0.02 if thin else 1.0
    body = kd.Body(
        'box', '', kd.Joint('free', kd.Free()), inertia=box_inertia(rng.uniform(1.0, 20.0), half)
    )
    signs = [(x, y, z) for z in (-1, 1) for x in (-1, 1) for y in (-1, 1)][:corners]
    return kd.Robot('box', [body]), [('box', half * sign) for sign in signs]


def wheeled(rng, wheels):
    """Return a chassis on wheels that turn, and the points in which they meet the ground."""
    half, radius = rng.uniform((0.2, 0.1, 0.05), (0.5, 0.4, 0.2)), rng.uniform(0.05, 0.2)
    bodies = [
        kd.Body(
            'box', '', kd.Joint('free', kd.Free()), inertia=box_inertia(rng.uniform(5.0, 50), half)
        )
    ]
    mass, points = rng.uniform(0.5, 3.0), []
    turning = mass * radius**2 * np.array([0.25, 0.5, 0.25])
    places = [(x, y) for x in (-1, 1) for y in (-1, 1)][:wheels]
    if wheels == 2:
        places = [(0, -1), (0, 1)]  # a differential drive with two casters
        points = [('box', (x * half[0], 0.0, -half[2] - radius)) for x in (-1, 1)]
    for k, (x, y) in enumerate(places):
        pose = at(x * half[0], y * half[1], -half[2])
        load = inertia(mass, (0, 0, 0), turning)
        bodies.append(kd.Body(f'wheel_{k}', 'box', revolute(f'turn_{k}', Y), pose, load))
        points.append((f'wheel_{k}', (0.0, 0.0, -radius)))
    return kd.Robot('wheeled', bodies), points


KINDS = ('edge', 'face', 'plate', 'corners', 'four wheels', 'two wheels')


def landing(seed, law_of_restitution=None):
    """Return (robot, q, v, contacts): one of `KINDS`, eps from 0 to 1e-2, mu from 0.3 to 2."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    if kind.endswith('wheels'):
        robot, points = wheeled(rng, {'four wheels': 4, 'two wheels': 2}[kind])
    else:
        robot, points = box(rng, {'edge': 2, 'corners': 8}.get(kind, 4), kind == 'plate')
    eps = (0.0, *np.logspace(-13, -2, 23))[rng.integers(24)]
    q = np.r_[nearly_flat(rng, eps, 0.5), np.zeros(robot.nq - 7)]
    v = rng.normal(size=robot.nv) * rng.choice([0.0, 1e-3, 1.0], size=robot.nv)
    v[5] = -rng.uniform(0.1, 3.0)
    mu, e = rng.choice([0.3, 0.6, 1.0, 2.0]), rng.choice([0.0, 0.3, 0.6, 1.0])
    contacts = [rough(robot, *point, friction=mu, restitution=e) for point in points]
    return robot, q, v, contacts


def linked(seed):
    """Return (robot, q, v, contacts): a floating tree with 2 or 3 contacts, each its own way."""
    robot, q, v, _ = tree_and_state(seed, 'floating')
    rng = np.random.default_rng(seed)
    links = rng.choice([body.name for body in robot.bodies], rng.integers(2, 4))
    contacts = []
    for link in links:
        e, mu = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        place, normal = rng.uniform(-0.3, 0.3, 3), rng.normal(size=3)
        contacts.append(rough(robot, str(link), place, normal, friction=mu, restitution=e))
    return robot, q, v, contacts
