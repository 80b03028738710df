# SPDX-License-Identifier: Apache-2.0
"""What a recorded motion says of the model, of feed-forward, and of what is left to the limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import TERMS
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.wheel_forces import picture_of
from kane_dynamics.control.motor_friction import Presliding
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification import recording_checks as checks
from kane_dynamics.identification.equations import CHUNK, Equations
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.page import Table, curves, html_page, listing, table
from kane_dynamics.identification.result import relative_error
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.typing import Floats

SLOW, FAST = 0.1, 0.5  # of the largest speed of a joint: ends of the ranges of residuals
LOOKS = 300  # samples at which the ground is looked at
_JOINTS = f"""Error: 100 rms(measured - model) / (max - min of measured). Carried: the part of the
rms of the effort that feed-forward of the model would have left to no feedback. Residuals: rms, at
speeds below {SLOW:g} and above {FAST:g} of the largest [N m or N]. Limits: those of the URDF."""
_GROUND = """Tip-over: least distance of the zero-moment point from an edge. Friction: what a
contact needs to keep from slipping, traction / load; what the floor has above it is left."""


@dataclass(frozen=True, eq=False)
class MotionReport:
    """
    Efforts of some speeds along recorded motions, as measured and by the model.

    Parameters
    ----------
    dynamics : Dynamics
        As the nodes have it, with friction of a parameter file.
    speeds : ObservedSpeeds
        Speeds whose efforts are compared.
    recordings : sequence of Samples
        In time, each without a gap.
    measured : bool
        Whether there are measured efforts.

    """

    dynamics: Dynamics
    speeds: ObservedSpeeds
    recordings: Sequence[Samples]
    measured: bool

    @cached_property
    def efforts(self) -> list[dict[str, Floats]]:
        """Return efforts along the speeds, shape (N, n) each, of each recording."""
        engine, friction = self.dynamics.engine, self.dynamics.friction
        motors = self.dynamics.model.q_index(self.dynamics.model.motors)
        equations, result = Equations(engine, self.speeds, {}), []
        for one in self.recordings:
            positions = one.history[:, motors]
            state = Presliding(positions, friction.states(positions)[one.index])
            model = np.array(engine.inverse_dynamics(one.q, one.v, one.a))
            model[:, friction.v_index] += friction.effort(TERMS, one.v, one.a, state)
            seen = {'measured': one.tau, 'raw': one.raw} if self.measured else {}
            efforts = {**seen, 'model': model}
            result.append({name: equations.efforts(one, tau) for name, tau in efforts.items()})
        return result

    @np.errstate(divide='ignore', invalid='ignore')  # of efforts and speeds that are zero
    def joints(self) -> dict[str, dict[str, float]]:
        """Return errors, shares and the use of limits, by speed."""
        indices, robot = self.speeds.indices, self.dynamics.model.robot
        whole = {name: np.vstack([x[name] for x in self.efforts]) for name in self.efforts[0]}
        speed = np.abs(np.vstack([one.v[:, indices] for one in self.recordings]))
        columns, model = dict[str, Floats](), whole['model']
        if self.measured:
            measured, missed = whole['measured'], whole['measured'] - model
            ranges = speed < SLOW * speed.max(axis=0), speed > FAST * speed.max(axis=0)
            slow, fast = (np.sqrt(np.sum(missed**2 * x, axis=0) / x.sum(axis=0)) for x in ranges)
            columns = {
                'error [%]': relative_error(measured, model),
                'of raw efforts [%]': relative_error(whole['raw'], model),
                'carried [%]': 100.0 * (1.0 - _rms(missed) / _rms(measured)),
                'residual when slow': slow,
                'residual when fast': fast,
            }
        for name, x, limits in (
            ('effort', next(iter(whole.values())), robot.effort_limit),
            ('speed', speed, robot.velocity_limit),
        ):
            columns[f'largest {name}'] = np.abs(x).max(axis=0)
            limit = known_limits(limits[indices])
            columns[f'of the {name} limit [%]'] = 100.0 * columns[f'largest {name}'] / limit
        return {
            name: {key: float(column[k]) for key, column in columns.items()}
            for k, name in enumerate(self.speeds.names)
        }

    def ground(self) -> dict[str, dict[str, Any]]:
        """Return what is left until a base on wheels tips, and the friction that it needs."""
        model, rows = self.dynamics.model, dict[str, dict[str, Any]]()
        if model.base is None or model.base.assumed:
            return rows
        contacts = kd.base_ground_contacts(model.base, friction=1.0)  # so that use is friction
        contacts = contacts.with_dynamics(self.dynamics.engine)
        for one in self.recordings:
            for k in range(0, len(one), 1 + len(one) // LOOKS):
                forces = picture_of(contacts, one.q[k], one.v[k], one.a[k], model.actuated)
                time, margin = float(one.time[k]), float(forces.margins.margin)
                if margin < rows.get('tip-over', {}).get('margin [m]', np.inf):
                    rows['tip-over'] = {'margin [m]': margin, 'at [s]': time}
                for name, x in forces.contacts.items():
                    if x.use > rows.get(name, {}).get('friction', -1.0):
                        rows[name] = {'friction': x.use, 'load [N]': x.normal, 'at [s]': time}
        return rows

    def warnings(self) -> list[str]:
        """Return what is unusual about the motion and its efforts."""
        names, v_index, messages = self.speeds.names, self.speeds.indices, list[str]()
        every = {
            key: np.vstack([getattr(x, key) for x in self.recordings])
            for key in ('q', 'v', 'raw', 'tau')
        }
        time = np.concatenate([x.time for x in self.recordings])
        q, v = every['q'][:, self.dynamics.model.q_index(names)], every['v'][:, v_index]

        def tell(check: Callable[..., list[str] | None], *values: Any) -> None:
            try:
                messages.extend(check(*values) or ())
            except InvalidInputError as error:
                messages.append(str(error))

        tell(checks.motion_warnings, names, time, q, v)
        tell(checks.check_ranges, self.dynamics.model.robot, names, q)
        if self.measured:
            raw, tau = (every[key][:, v_index] for key in ('raw', 'tau'))
            tell(checks.weight_warnings, self.dynamics.engine, names, every['q'], tau)
            tell(checks.check_efforts, names, raw)
            tell(checks.check_signs_and_units, self.dynamics.engine, names, every['q'], v, tau)
            for one, x in zip(self.recordings, self.efforts, strict=True):
                tell(checks.contact_warnings, names, one.time, x['measured'], x['model'])
                tell(checks.lag_warnings, self._lag(one, x))
        return messages

    def _lag(self, one: Samples, efforts: Mapping[str, Floats]) -> checks.Lag:
        """Return the lag of efforts against the model with friction fitted to it."""
        part, terms = one.part(slice(CHUNK)), dict.fromkeys(self.speeds.names, MOTOR_SIDE)
        equations = Equations(self.dynamics.engine, self.speeds, terms)
        friction = next(equations.chunks([part]))[..., equations.inertial : -1]
        measured, model = (efforts[key][: len(part)] for key in ('measured', 'model'))
        rows = np.concatenate([model[..., None], friction], axis=-1)
        moving = rows[..., rows.any(axis=(0, 1))]
        deviations = (measured - model).std(axis=0) + 1e-300
        return checks.lag_of(part.time, moving, measured, deviations)

    def page(self, warnings: Sequence[str], tables: Mapping[str, Table]) -> str:
        """Return the page, with tables of joints and ground, and others."""
        longest, efforts = max(
            zip(self.recordings, self.efforts, strict=True), key=lambda x: len(x[0])
        )
        drawn = {name: x for name, x in efforts.items() if name != 'raw'}
        texts = {'joints': _JOINTS, 'ground': _GROUND}
        return html_page(
            f'Recorded motion of {self.dynamics.model.robot.name}',
            [
                listing('Warnings', warnings),
                *(table(name, x, texts.get(name, '')) for name, x in tables.items() if x),
                curves('Efforts, residual against speed', longest, self.speeds, drawn),
            ],
        )


def _rms(x: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(x**2, axis=0)))
