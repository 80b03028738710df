# SPDX-License-Identifier: Apache-2.0
"""Calls of mobile bases, of what they stand on and of the governor, and what is wrong of them."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from support.base_robots import Spot, robot_on, steering_of

import kane_dynamics as kd
from kane_dynamics.analysis.base_motion import DriveResponse
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.control.governor import Governor

CORNERS = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
SIDES = ((0.0, -1.0), (0.87, 0.5), (-0.87, 0.5))
OMNI = ['omni_0', 'omni_1', 'omni_2']
LEFT, RIGHT = ('fl', 'rl'), ('fr', 'rr')

CALLS = """
bases.differential robot left right casters? balls supports radius?
bases.skid_steer robot left right track_factor casters? balls supports radius?
bases.mecanum robot wheels roller_angles casters? balls supports radius?
bases.omni robot wheels casters? balls supports radius?
bases.ackermann robot rear steered driven? casters? balls supports radius?
bases.swerve robot steered casters? balls supports radius?
bases.wheeled_base robot block
bases.fitting_kinds robot
bases.found_wheels robot
rolling.wheel_rates twist q? steering_rates?
rolling.twist rates q? steering_rates?
rolling.steering_angles twist q? twist_rate?
rolling.at_angles angles q?
rolling.consistent_steering q? v?
rolling.steer_towards twist q most?
rolling.mobility q?
rolling.steerability q?
rolling.undriven q?
standing.polygon q
standing.loads q v a external_wrenches
standing.margins q v a external_wrenches
standing.critical_acceleration q v direction a? external_wrenches
standing.sliding_forces q v loads
governing.DriveResponse time_constant acceleration_limit
governing.SafetyMargins edge friction effort speed
governing.Governor contacts drive wheels passive margins horizon
governing.after twist command time
governing.admit q v a twist applied target plan?
"""


class BaseWorld:
    """Robots on wheels and what is made of them."""

    def __init__(self) -> None:
        self.four = robot_on([Spot(name, *xy) for name, xy in CORNERS.items()], arm=1)
        self.three = robot_on(
            [Spot(f'omni_{k}', *0.3 * np.array(xy), k * np.pi / 1.5) for k, xy in enumerate(SIDES)]
        )
        self.two = robot_on([Spot('fl', 0.0, 0.2), Spot('fr', 0.0, -0.2)])
        car = [Spot(name, *xy, steered=name[0] == 'f') for name, xy in CORNERS.items()]
        swerve = [Spot(name, *xy, steered=True) for name, xy in CORNERS.items()]
        self.car, self.car_steering = robot_on(car), steering_of(car)
        self.turning, self.steering = robot_on(swerve), steering_of(swerve)
        self.bases = kd.bases
        self.rolling = kd.bases.swerve(self.turning, self.steering)
        skid_steer = kd.bases.skid_steer(self.four, LEFT, RIGHT)
        self.standing = kd.base_ground_contacts(skid_steer, friction=0.5)
        self.drives = DriveResponse(0.1)
        governor = Governor(self.standing, self.drives, list(CORNERS))
        self.governing = SimpleNamespace(
            DriveResponse=DriveResponse,
            SafetyMargins=SafetyMargins,
            Governor=Governor,
            after=self.drives.after,
            admit=governor.admit,
        )


@cache
def world() -> BaseWorld:
    """Return the robots."""
    return BaseWorld()


def arguments() -> dict[tuple[str, str], tuple[str, Any]]:
    """Return kind and right value of arguments, by owner or function."""
    w = world()
    owned: dict[str, dict[str, tuple[str, Any]]] = {
        'bases': {
            'robot': ('robot', w.four),
            'left': ('names', LEFT),
            'right': ('names', RIGHT),
            'wheels': ('names', list(CORNERS)),
            'rear': ('names', ['rl', 'rr']),
            'driven': ('names', ['rl', 'rr']),
            'balls': ('names', []),
            'steered': ('pairs', w.car_steering),
            'casters': ('passive pairs', {}),
            'supports': ('points', [(0.3, 0.0, 0.0)]),
            'radius': ('radii', 0.1),
            'roller_angles': ('three', np.pi / 4.0 * np.array([-1.0, 1.0, 1.0, -1.0])),
            'track_factor': ('step', 1.2),
            'block': ('block', {'kind': 'skid_steer', 'left': LEFT, 'right': RIGHT}),
        },
        'bases.differential': {
            'robot': ('robot', w.two),
            'left': ('names', ['fl']),
            'right': ('names', ['fr']),
        },
        'bases.omni': {'robot': ('robot', w.three), 'wheels': ('names', OMNI)},
        'bases.ackermann': {'robot': ('robot', w.car)},
        'bases.swerve': {'robot': ('robot', w.turning), 'steered': ('pairs', w.steering)},
        'rolling': {
            'q': ('rows', w.turning.neutral()),
            'twist': ('rows', np.array([0.3, 0.1, 0.2])),
            'twist_rate': ('rows', np.zeros(3)),
            'rates': ('rates', np.ones(4)),
            'steering_rates': ('rates', np.zeros(4)),
            'angles': ('vector', np.zeros(4)),
        },
        'standing': {
            **{name: ('vector', np.zeros(w.four.nv)) for name in ('q', 'v', 'a')},
            'direction': ('vector', np.eye(w.four.nv)[0]),
            'loads': ('vector', np.ones(4)),
            'external_wrenches': ('pushes', {'link_1': np.zeros(6)}),
        },
        'governing': {
            **{name: ('vector', np.zeros(w.four.nv)) for name in ('q', 'v', 'a')},
            **{name: ('three', np.zeros(3)) for name in ('twist', 'applied', 'target')},
            'command': ('twists', np.zeros(3)),
            'time_constant': ('duration', 0.1),
            'acceleration_limit': ('limits', (1.0, 1.0, 2.0)),
            **{name: ('part', 0.5) for name in ('friction', 'effort', 'speed')},
            'edge': ('mass', 0.05),
            'contacts': ('ground_contacts', w.standing),
            'drive': ('drive', w.drives),
            'wheels': ('names', list(CORNERS)),
            'passive': ('names', []),
            'margins': ('reserve', SafetyMargins()),
            'horizon': ('step', 1.0),
            'plan': ('plan', None),
        },
        'governing.after': {'time': ('times', 0.1), 'twist': ('twists', np.zeros(3))},
    }
    # what takes one state or many
    for name in ('mobility', 'steerability', 'undriven', 'at_angles', 'consistent_steering'):
        owned[f'rolling.{name}'] = {'q': ('vector', w.turning.neutral())}
    owned['rolling.consistent_steering']['v'] = ('vector', np.zeros(w.turning.nv))
    owned['rolling.steer_towards'] = {
        'q': ('vector', w.turning.neutral()),
        'twist': ('three', np.array([0.3, 0.1, 0.2])),
        'most': ('step', 0.1),
    }
    return {(owner, name): x for owner, named in owned.items() for name, x in named.items()}


def wrong(kind: str) -> dict[str, Any] | None:
    """Return what is wrong for a kind of these arguments; None for those of other calls."""
    w = world()
    pairs = {
        'list': ['fl_steer'],
        'text': 'fl',
        'number': 3,
        'unknown wheel': {'fl_steer': 'wheel_letf'},
        'unknown steering': {'fl_ster': 'fl'},
        'no name': {3: 'fl'},
        'none in it': {'fl_steer': None},
        'the wrong way round': {'fl': 'fl_steer'},
        'one wheel twice': {'fl_steer': 'fl', 'fr_steer': 'fl'},
    }
    number = {'text': 'large', 'nan': np.nan, 'complex': 1j, 'truth value': True, 'none': None}
    other = {'none': None, 'text': 'standard', 'number': 3, 'robot': w.four}
    kinds: dict[str, dict[str, Any]] = {
        'pairs': {**pairs, 'none': None},
        'passive pairs': {**pairs, 'zero': 0, 'no text': '', 'empty list': []},
        'points': {
            'one alone': (0.3, 0.0, 0.0),
            'number': 3,
            'none': None,
            'text': 'behind',
            'two numbers': [(0.3, 0.0)],
            'nan': [(np.nan, 0.0, 0.0)],
            'none among them': [None],
            'mapping': {'rear': (0.3, 0.0, 0.0)},
        },
        'pushes': {
            'list': [0.0] * 6,
            'unknown link': {'tol': [0.0] * 6},
            'five numbers': {'link_1': [0.0] * 5},
            'none in it': {'link_1': None},
        },
        'radii': {
            **number,
            'zero': 0.0,
            'negative': -0.1,
            'several': [0.1, 0.1],
            'infinite': np.inf,
            'of no wheel': {'wheel_letf': 0.1},
            'text of one': {'fl': 'large'},
            'negative one': {'fl': -0.1},
            'no name': {3: 0.1},
        },
        'block': {
            'none': None,
            'text': 'omni',
            'list': ['omni'],
            'no kind': {'wheels': ['fl']},
            'unknown kind': {'kind': 'omnii', 'wheels': ['fl']},
            'unknown entry': {'kind': 'omni', 'wheel': ['fl']},
            'missing entry': {'kind': 'omni'},
            'unknown wheel': {'kind': 'omni', 'wheels': ['wheel_letf']},
            'no name': {3: 'omni'},
        },
        'rates': {
            **number,
            'one too many': np.ones(5),
            'a number': 1.0,
            'unknown joint': dict.fromkeys((*CORNERS, 'wheel_letf'), 1.0),
            'text of one': dict.fromkeys(CORNERS, 'fast') | dict.fromkeys(w.steering, 'fast'),
            'nan of one': dict.fromkeys(CORNERS, np.nan),
            'several of one': {name: [1.0, 2.0] for name in CORNERS},
            'three axes': np.ones((1, 1, 4)),
        },
        'twists': {**number, 'infinite': np.full(3, np.inf), 'two numbers': np.ones(2)},
        'limits': {**number, 'two': (1.0, 2.0), 'zero': (0.0, 1.0, 1.0), 'number': 4.0},
        'part': {**number, 'zero': 0.0, 'negative': -0.1, 'above one': 1.5},
        'ground_contacts': {**other, 'base': w.rolling},
        'drive': {**other, 'time constant': 0.1},
        'plan': {
            'number': 3,
            'text': 'ahead',
            'array': np.zeros((8, w.four.nq)),
            'too few arguments': lambda: None,
            'gives nothing': lambda times: None,
            'gives one': lambda times: np.zeros((8, w.four.nq)),
            'gives text': lambda times: ('q', 'v', 'a'),
            'gives rows of one': lambda times: (w.four.neutral(),) * 3,
        },
        'reserve': {**other, 'edge': 0.05, 'mapping': {'edge': 0.05}},
    }
    return kinds.get(kind)
