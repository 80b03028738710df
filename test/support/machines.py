# SPDX-License-Identifier: Apache-2.0
"""Small machines with known answers (equations.md sections 2.7, 7.7-7.9; published instances)."""

import numpy as np

import kane_dynamics as kd

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WEIGHTLESS = (0.0, 0.0, 0.0)


def at(*position):
    """Return the pose of a frame moved to a position [m] and not turned."""
    return kd.Pose.from_rotation_and_position((1, 0, 0, 0), position)


def turned(axis, angle, position=(0, 0, 0)):
    """Return the pose of a frame turned about a unit axis by an angle [rad] and moved."""
    return kd.Pose.from_rotation_and_position(
        np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.array(axis)], position
    )


def inertia(mass, com=(0, 0, 0), diagonal=(0, 0, 0)):
    """Return an inertia whose tensor is diagonal."""
    return kd.Inertia(mass, com, np.diag(diagonal))


def revolute(name, axis=Z, **options):
    """Return a revolute joint."""
    return kd.Joint(name, kd.Revolute(axis), **options)


def prismatic(name, axis=X, **options):
    """Return a prismatic joint."""
    return kd.Joint(name, kd.Prismatic(axis), **options)


def planar_2r():
    """Return the arm of section 2.7: slender rods, frames c1 and c2 at their centres."""
    rods = [
        inertia(m, (a / 2, 0, 0), (0, m * a * a / 12, m * a * a / 12))
        for m, a in ((2.0, 1.0), (1.5, 0.8))
    ]
    bodies = [
        kd.Body('link_1', '', revolute('joint_1'), inertia=rods[0]),
        kd.Body('link_2', 'link_1', revolute('joint_2'), at(1.0, 0, 0), rods[1]),
    ]
    frames = {'c1': kd.Frame(0, at(0.5, 0, 0)), 'c2': kd.Frame(1, at(0.4, 0, 0))}
    return kd.Robot('planar_2r', bodies, (0, -9.81, 0), frames)


def measuring_2r():
    """Return the same arm with a 6-DoF joint before each hinge: at rest it measures the wrench."""
    arm = planar_2r()
    bodies = [
        kd.Body('sensor_1', '', kd.Joint('sensor_1', kd.Free())),
        kd.Body('link_1', 'sensor_1', revolute('joint_1'), inertia=arm.bodies[0].inertia),
        kd.Body('sensor_2', 'link_1', kd.Joint('sensor_2', kd.Free()), at(1.0, 0, 0)),
        kd.Body('link_2', 'sensor_2', revolute('joint_2'), inertia=arm.bodies[1].inertia),
    ]
    return kd.Robot('measuring_2r', bodies, arm.gravity)


def planar_body(mass, tensor_zz, com_x, gravity=WEIGHTLESS):
    """Return a body on a plane; its centre of mass is `com_x` ahead of its frame."""
    body = kd.Body(
        'base',
        '',
        kd.Joint('base', kd.Planar()),
        inertia=inertia(mass, (com_x, 0, 0), (0, 0, tensor_zz)),
    )
    return kd.Robot('sleigh', [body], gravity)


SLEIGH = {'mass': 1.3, 'tensor_zz': 0.4, 'com_x': 0.35}
DRIVE = {
    'L': 0.22,
    'r': 0.0975,
    'd': 0.12,
    'm_c': 15.0,
    'I_c': 0.9,
    'm_w': 0.7,
    'I_w': 0.004,
    'I_m': 0.002,
}


def differential_drive(arm=False, **dynamics):
    """
    Return the two-wheeled base of Dhaouadi and Abu Hatab; wheel axes along +y.

    Parameters
    ----------
    arm : bool
        Whether two more links, a shoulder about z and an elbow about y, stand on it.
    **dynamics
        Damping, friction or armature of the arm's joints.
    """
    n = DRIVE
    wheel = inertia(n['m_w'], (0, 0, 0), (n['I_m'], n['I_w'], n['I_m']))
    bodies = [
        kd.Body(
            'base',
            '',
            kd.Joint('base', kd.Planar()),
            inertia=inertia(n['m_c'], (n['d'], 0, 0), (0, 0, n['I_c'])),
        ),
        kd.Body('wheel_left', 'base', revolute('left', Y), at(0, n['L'], n['r']), wheel),
        kd.Body('wheel_right', 'base', revolute('right', Y), at(0, -n['L'], n['r']), wheel),
    ]
    if arm:
        upper = inertia(1.1, (0.15, 0.02, 0.05), (0.01, 0.02, 0.02))
        fore = inertia(0.8, (0.2, 0.0, -0.03), (0.005, 0.015, 0.012))
        bodies += [
            kd.Body(
                'upper', 'base', revolute('shoulder', Z, **dynamics), at(0.1, 0.03, 0.3), upper
            ),
            kd.Body('fore', 'upper', revolute('elbow', Y, **dynamics), at(0.3, 0, 0.1), fore),
        ]
    return kd.Robot('drive', bodies)


def rolling_disc(r=0.26, m=3.43):
    """
    Return a thin disc on slides x, y, z and hinges yaw (z), lean (x), spin (y).

    All mass is on the last body, so nothing but the disc is in M.
    """
    names = [('x', X), ('y', Y), ('z', Z)]
    bodies = [
        kd.Body(name, parent, prismatic(name, axis))
        for (name, axis), parent in zip(names, ('', 'x', 'y'), strict=True)
    ]
    disc = inertia(m, (0, 0, 0), (m * r * r / 4, m * r * r / 2, m * r * r / 4))
    bodies += [
        kd.Body('yawed', 'z', revolute('yaw', Z)),
        kd.Body('leaned', 'yawed', revolute('lean', X)),
        kd.Body('disc', 'leaned', revolute('spin', Y), inertia=disc),
    ]
    return kd.Robot('disc', bodies)


def four_bar(turn=0.0):
    """
    Return a planar four-bar linkage, cut at the coupler's end.

    Link lengths crank 0.3, coupler 0.8, rocker 0.6, ground 0.7 m; frames 'coupler_end' and
    'rocker_end' coincide where the loop is closed. `turn` is added to the angle of 'rocker_end'.
    """
    lengths = {'crank': 0.3, 'coupler': 0.8, 'rocker': 0.6}

    def bar(name):
        m, a = 2.0 * lengths[name], lengths[name]
        return inertia(m, (a / 2, 0, 0), (1e-3, m * a * a / 12, m * a * a / 12))

    bodies = [
        kd.Body('crank', '', revolute('crank'), inertia=bar('crank')),
        kd.Body('coupler', 'crank', revolute('coupler'), at(0.3, 0, 0), bar('coupler')),
        kd.Body(
            'tip',
            'coupler',
            revolute('tip'),
            at(0.8, 0, 0),
            inertia(0.1, (0, 0, 0), (1e-4, 1e-4, 1e-4)),
        ),
        kd.Body('rocker', '', revolute('rocker'), at(0.7, 0, 0), bar('rocker')),
    ]
    frames = {
        'coupler_end': kd.Frame(2, at(0, 0, 0)),
        'rocker_end': kd.Frame(3, turned(Z, turn, (0.6, 0, 0))),
    }
    return kd.Robot('four_bar', bodies, (0, -9.81, 0), frames)


def four_bar_coordinates(crank):
    """Return q of the closed four-bar linkage, elbow up, from its crank angle [rad]."""
    tip = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    to_pivot = np.array([0.7, 0.0]) - tip
    span, direction = np.hypot(*to_pivot), np.arctan2(to_pivot[1], to_pivot[0])
    inner = np.arccos((0.8**2 + span**2 - 0.6**2) / (2 * 0.8 * span))
    coupler = direction + inner
    end = tip + 0.8 * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(end[1], end[0] - 0.7)
    return np.array([crank, coupler - crank, rocker - coupler, rocker])


def sled_with_arm():
    """Return a body on a plane with two links, a shoulder about z and an elbow about y."""
    trunk = inertia(5.0, (0.2, 0.05, 0.1), (0.1, 0.2, 0.4))
    upper = inertia(1.1, (0.15, 0.02, 0.05), (0.01, 0.02, 0.02))
    fore = inertia(0.8, (0.2, 0.0, -0.03), (0.005, 0.015, 0.012))
    bodies = [
        kd.Body('base', '', kd.Joint('base', kd.Planar()), inertia=trunk),
        kd.Body('upper', 'base', revolute('shoulder', Z), at(0.1, 0.03, 0.3), upper),
        kd.Body('fore', 'upper', revolute('elbow', Y), at(0.3, 0, 0.1), fore),
    ]
    return kd.Robot('sled', bodies)


CART = {'L1': 0.4, 'L2': 0.9, 'L3': 0.15, 'm_B': 20.0, 'm_C': 1.5, 'I_B': 2.5}


def shopping_cart():
    """Return the cart of example 7.9: body on a plane, caster as a particle behind its pivot."""
    n = CART
    bodies = [
        kd.Body(
            'base',
            '',
            kd.Joint('base', kd.Planar()),
            inertia=inertia(n['m_B'], (n['L1'], 0, 0), (0, 0, n['I_B'])),
        ),
        kd.Body(
            'caster',
            'base',
            revolute('caster'),
            at(n['L2'], 0, 0),
            inertia(n['m_C'], (-n['L3'], 0, 0)),
        ),
    ]
    return kd.Robot('cart', bodies, WEIGHTLESS)


def massless_wrist():
    """Return an arm whose wrist passes through two bodies without mass."""
    hand = inertia(0.5, (0.02, 0.1, 0.2), (2e-3, 3e-3, 4e-3))
    bodies = [
        kd.Body('upper', '', revolute('shoulder', Y), inertia=inertia(2.0, (0, 0, 0.2))),
        kd.Body('cross', 'upper', revolute('roll', Z), at(0, 0, 0.4)),
        kd.Body('fork', 'cross', revolute('pitch', X), at(0, 0.01, 0)),
        kd.Body('hand', 'fork', revolute('yaw', Y), at(0, 0, 0.1), hand),
    ]
    return kd.Robot('massless', bodies, frames={'tip': kd.Frame(3, turned(X, 0.3))})


def wrist():
    """Return the spherical wrist of example 7.8: gravity along -n1, centre of mass on c3."""
    load = inertia(1.2, (0, 0, 0.15), (0.02, 0.03, 0.01))
    body = kd.Body('C', '', kd.Joint('wrist', kd.Spherical()), inertia=load)
    return kd.Robot('wrist', [body], (-9.81, 0, 0), {'Co': kd.Frame(0, at(0, 0, 0.15))})


SNAKEBOARD = {'l': 0.35, 'm': 2.4, 'J': 0.11, 'm_r': 1.1, 'J_r': 0.06, 'm_w': 0.4, 'J_w': 0.013}


def snakeboard():
    """Return a board on a plane: a rotor on its middle, axles at l ahead and behind that steer."""
    n = SNAKEBOARD
    axle = inertia(n['m_w'], (0, 0, 0), (0, 0, n['J_w']))
    base = kd.Joint('base', kd.Planar())
    rotor = inertia(n['m_r'], (0, 0, 0), (0, 0, n['J_r']))
    bodies = [
        kd.Body('board', '', base, inertia=inertia(n['m'], (0, 0, 0), (0, 0, n['J']))),
        kd.Body('rotor', 'board', revolute('rotor'), inertia=rotor),
        kd.Body('front', 'board', revolute('front'), at(n['l'], 0, 0), axle),
        kd.Body('rear', 'board', revolute('rear'), at(-n['l'], 0, 0), axle),
    ]
    return kd.Robot('snakeboard', bodies)
