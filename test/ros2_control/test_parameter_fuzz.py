# SPDX-License-Identifier: Apache-2.0
"""Parameters of kane_dynamics/EffortController: refused with a reason, or in force."""

import os

import numpy as np
from numpy.testing import assert_allclose
from test_effort_controller import controller, install, library, model, references  # noqa: F401

COUNT = int(os.environ.get('FUZZ_COUNT', '500'))  # 10^4 takes a minute
NAN, INF = float('nan'), float('inf')
WRONG = [NAN, INF, -INF, -1e-9, -1.0, 1e300]
GAINS = {'p': 1e9, 'i': 1e9, 'd': 1e9, 'i_limit': 1e9}


class Law:
    """What the controller must command, from the parameters that were accepted."""

    def __init__(self, joints, efforts):
        self.gains = {joint: dict.fromkeys(GAINS, 0.0) for joint in joints}
        self.gravity, self.integral = [0.0, 0.0, -9.81], np.zeros(len(joints))
        self._efforts, self._due = efforts, None

    def command(self, q, v, reference, period):
        """Return the efforts of an update."""
        q_r, v_r, a_r = reference
        q_d, v_d = self._due or (q_r, v_r)  # of the update before
        self._due = q_r, v_r
        gain = {k: np.array([one[k] for one in self.gains.values()]) for k in GAINS}
        step = self.integral + gain['i'] * (q_d - q) * period
        self.integral = np.clip(step, -gain['i_limit'], gain['i_limit'])
        feedback = gain['p'] * (q_d - q) + gain['d'] * (v_d - v) + self.integral
        return self._efforts(self.gravity, q_r, v_r, a_r) + feedback


def drawn(rng, joints):
    """Return a parameter, its values, whether these are right, and what it then is in the law."""
    wrong = rng.random() < 0.5
    if rng.random() < 0.3:
        values = rng.uniform(-20.0, 20.0, 3)
        if wrong:
            values = [values, np.append(values, 0.0)][rng.integers(2)][: rng.integers(1, 5)]
            if len(values) == 3:
                values[rng.integers(3)] = rng.choice([NAN, INF, 1e300])
        return 'gravity', list(values), not wrong, ('gravity',)
    joint, name = rng.choice(joints), rng.choice(list(GAINS))
    value = rng.choice(WRONG) if wrong else rng.uniform(0.0, 100.0)
    if wrong and rng.random() < 0.3:
        joint, value = 'no_such_joint', 1.0
    return f'gains.{joint}.{name}', [value], not wrong, (joint, name)


def test_each_parameter_is_refused_with_a_reason_or_in_force(controller, model, rng):  # noqa: F811
    made, engine = model
    joints = made.motors
    zero = np.zeros(3)

    def efforts(gravity, *motion):
        engine.set_gravity(gravity)
        whole = [np.concatenate([zero, x]) for x in motion]
        known = tuple(made.robot.velocity_names[3:])
        return engine.constrained_inverse_dynamics(*whole, made.actuated, known=known).effort[3:]

    law, one = Law(joints, efforts), controller(enforce_command_limits='false')
    refused = 0
    try:
        for _ in range(COUNT):
            name, values, right, place = drawn(rng, joints)
            answer = one.run('set', name, *values)
            assert (answer == 'ok') == right, (name, values, answer)
            if not right:
                refused += 1
                assert answer.startswith('refused: ') and len(answer) > len('refused: ')
            elif place == ('gravity',):
                law.gravity = values
            else:
                law.gains[place[0]][place[1]] = values[0]
            q, v, *reference = rng.uniform(-0.5, 0.5, (5, 7))
            one.run('states', *q, *v)
            one.run('references', *references(*reference, [NAN] * 7))
            code, allocations, commanded = one.update(1e-3)
            assert (code, allocations) == (0, 0)
            expected = law.command(q, v, reference, 1e-3)
            assert_allclose(commanded[:7], expected, rtol=1e-9, atol=1e-9)
    finally:
        engine.set_gravity(made.robot.gravity)
    assert 0.3 * COUNT < refused < 0.7 * COUNT
