# SPDX-License-Identifier: Apache-2.0
"""Mutants that none of the quick laws sees, each with its reason; see mutants.py for names."""

REASONS = {
    'SYMMETRIC': 'a symmetric matrix times a vector, or a row times a row, in the other order',
    'EITHER': 'either is right: sign of an eigenvector, a frame across an axis, a name of a value',
    'ROUNDOFF': 'the last part of a constant, below the roundoff of what a law compares',
    'BOUND': 'bound of a check that sound steps and motions do not reach',
    'HEALTH': 'bound of a health check: the reference solves more or fewer states, equally well',
    'SLOW': 'seen by tests of kernels, which compile and are too slow here',
    'REPORTED': 'a time that stands only in messages and in the log of ranks',
    'OPEN': 'no quick law has such a case yet: help is welcome',
}
NAMES = {
    'SYMMETRIC': [
        'algorithms/articulated_body.py ArticulatedInertia.wrench: product(self.mass, v) -> product(v, self.mass)',  # noqa: E501
        'algorithms/articulated_body.py ArticulatedInertia.wrench: product(self.tensor, omega) -> product(omega, self.tensor)',  # noqa: E501
        'algorithms/mass_matrix.py s_bar: product(inertia.tensor, omega) -> product(omega, inertia.tensor)',  # noqa: E501
        'formulations/gauss.py gibbs: product(psi(inertia), rate) -> product(rate, psi(inertia))',
        'formulations/gauss.py acceleration_gradient: product(psi(inertia), rate) -> product(rate, psi(inertia))',  # noqa: E501
        'formulations/lagrange.py velocity_force_of_bodies: product(body.mass, product(body.jacobian, speeds)) -> product(product(body.jacobian, speeds), body.mass)',  # noqa: E501
        'formulations/lagrange.py velocity_force_of_bodies: product(body.mass, product(body.rate, speeds)) -> product(product(body.rate, speeds), body.mass)',  # noqa: E501
    ],
    'EITHER': [
        'algorithms/wrench_law.py wrench_motion: m + p -> m - p',
        'trajectories/limit_rows.py module: -1.0 -> 1.0',  # directions in which a search begins
        'trajectories/limit_rows.py module: -1.0 -> 1.0 (2)',
        'trajectories/limit_rows.py projected: size - len(x) -> size + len(x)',  # rows of zeros
        "trajectories/path_limits.py PathLimits._assembled: ground + np.einsum('nmk,nk->nm', maps[1], multipliers) -> ground - np.einsum('nmk,nk->nm', maps[1], multipliers)",  # noqa: E501, sides of friction are symmetric
        'trajectories/speed_profile.py SpeedProfile._cell_times: 1.0 + nodes -> 1.0 - nodes',
        # singular values instead of normal equations
        'bases/icr_steering.py _Angles.fitted: cc + c * c -> cc - c * c',
        'bases/icr_steering.py _Angles.fitted: dd + d * d -> dd - d * d',
        'bases/icr_steering.py _Angles.fitted: cc + dd -> cc - dd',
        'formulations/kane.py matrix_roots: -1 -> 1',
        'constraints/rolling.py _sampled_motions: -1.0 -> 1.0',
        'constraints/loops.py _across: np.cross(axis, first) -> np.cross(first, axis)',
        'algorithms/dry_friction.py proximal_forces: -problem.free -> problem.free',
        'algorithms/impact_path.py _turns: slip[0] * change[1] - slip[1] * change[0] -> slip[0] * change[1] + slip[1] * change[0]',  # noqa: E501
    ],
    'ROUNDOFF': [
        'algorithms/damped_task_inverse.py DampedTaskInverse.__init__: means[k] + _BESIDE * means[1 - k] -> means[k] - _BESIDE * means[1 - k]',  # noqa: E501
        'trajectories/limit_rows.py largest_scaling: 1.0 - _SAFE -> 1.0 + _SAFE',
        'compiler/llvm/sines.py module: -1.4973849048591833e-33 -> 1.4973849048591833e-33',
        'compiler/llvm/sines.py module: -1.7151245100058819e-15 -> 1.7151245100058819e-15',
    ],
    'BOUND': [
        'algorithms/limited_inverse.py ForceLimits.nearest: 1.0 + np.abs(start).max(initial=0.0) -> 1.0 - np.abs(start).max(initial=0.0)',  # noqa: E501
        'algorithms/damped_task_inverse.py DampedTaskInverse.__init__: sum(looked.inverse_diagonal(), 0.0) - sum(self._free, 0.0) -> sum(looked.inverse_diagonal(), 0.0) + sum(self._free, 0.0)',  # noqa: E501
        'algorithms/damped_task_inverse.py DampedTaskInverse._factors: more + free -> more - free',
        'events/transition.py _word: 1.0 - _TIE -> 1.0 + _TIE',
        'events/guards.py EventDetector.times_to_stick: rows.matrix @ self._flow.motion(q, v, tau, t).acceleration - rows.acceleration -> rows.matrix @ self._flow.motion(q, v, tau, t).acceleration + rows.acceleration',  # noqa: E501
        'algorithms/frictional_contact.py ContactProblem.opens: np.abs(C) @ (np.abs(x) + np.abs(self.free)) + np.abs(self.least) -> np.abs(C) @ (np.abs(x) + np.abs(self.free)) - np.abs(self.least)',  # noqa: E501
        'dynamics/contacts.py _slip: np.abs(tangent.matrix) @ np.abs(v) + np.abs(tangent.velocity) -> np.abs(tangent.matrix) @ np.abs(v) - np.abs(tangent.velocity)',  # noqa: E501
        'algorithms/impact.py _takes_energy: v @ mass_matrix @ v + np.abs(impulses) @ np.abs(still) -> v @ mass_matrix @ v - np.abs(impulses) @ np.abs(still)',  # noqa: E501
        'algorithms/dry_friction.py _nearest_to_law: _EXACT * problem.size + problem.roundoff(best) -> _EXACT * problem.size - problem.roundoff(best)',  # noqa: E501, the search is longer
        'trajectories/retiming.py _fastest: profile.duration / before.duration - 1.0 -> profile.duration / before.duration + 1.0',  # noqa: E501, the search is longer
        'algorithms/least_distance.py _pushing: e - MET -> e + MET',
        'algorithms/least_distance.py nearest_beside: 1.0 + np.abs(C) @ np.abs(start) -> 1.0 - np.abs(C) @ np.abs(start)',  # noqa: E501
        'algorithms/constrained_inverse.py check_allowed: 1.0 + np.abs(rows.acceleration).max(initial=0.0) -> 1.0 - np.abs(rows.acceleration).max(initial=0.0)',  # noqa: E501
        'simulation/step_checks.py forecast: x + 0.5 * h * a -> x - 0.5 * h * a',
        'simulation/step_checks.py excess_jump: MOST_TURNED * (energy(v, at_rest) + energy(expected, v)) + _STANDSTILL -> MOST_TURNED * (energy(v, at_rest) + energy(expected, v)) - _STANDSTILL',  # noqa: E501
        'simulation/step_checks.py excess_jump: energy(v, at_rest) + energy(expected, v) -> energy(v, at_rest) - energy(expected, v)',  # noqa: E501
        'simulation/step_checks.py excess_of: 0.001 + absolute(before) + absolute(after) -> 0.001 + absolute(before) - absolute(after)',  # noqa: E501
        'simulation/step_checks.py excess_of: 0.001 + absolute(before) -> 0.001 - absolute(before)',  # noqa: E501
        'simulation/step_checks.py excess_of: absolute(gap) - allowed - _ROUNDOFF * (0.001 + absolute(before) + absolute(after)) -> absolute(gap) - allowed + _ROUNDOFF * (0.001 + absolute(before) + absolute(after))',  # noqa: E501
        'simulation/step_checks.py excess_of: kinetic[0] + kinetic[1] + absolute(moved) -> kinetic[0] + kinetic[1] - absolute(moved)',  # noqa: E501
    ],
    'HEALTH': [
        'events/transition.py _satisfied: np.abs(rows.matrix).sum(axis=1) * math.sqrt(v @ v) + np.abs(rows.velocity) -> np.abs(rows.matrix).sum(axis=1) * math.sqrt(v @ v) - np.abs(rows.velocity)',  # noqa: E501
        'events/transition.py _satisfied: rows.matrix @ v - rows.velocity -> rows.matrix @ v + rows.velocity',  # noqa: E501
        'algorithms/articulated_body.py hinge_rcond: spin * subtree.square + slide * subtree.mass + rotor -> spin * subtree.square + slide * subtree.mass - rotor',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.solve: f + p -> f - p',
        'algorithms/constrained_solve.py EliminatedRows.missed: product(row, x) - right_side[i] -> product(row, x) + right_side[i]',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.missed: _sizes(row, x) + absolute(c) -> _sizes(row, x) - absolute(c)',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.missed: _MISSED * sizes[i] + _MISSED_BESIDE * beside -> _MISSED * sizes[i] - _MISSED_BESIDE * beside',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.missed: allowed + _MISSED_FREE * _sizes(row, free) -> allowed - _MISSED_FREE * _sizes(row, free)',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.agreed: motion + relative * norm -> motion - relative * norm',  # noqa: E501
        'algorithms/constrained_solve.py EliminatedRows.agreed: much + alone -> much - alone',
        'algorithms/row_elimination.py _by_the_rule: 1.0 - gone -> 1.0 + gone',
        'algorithms/row_elimination.py _by_the_rule: repeating + where(volume < _SOLID, 1.0, 0.0) -> repeating - where(volume < _SOLID, 1.0, 0.0)',  # noqa: E501
    ],
    'SLOW': [
        'dynamics/limited_problem.py LimitedInverse._motion: forces[:nv] + whole[len(forces):, :-1].T @ forces[nv:] -> forces[:nv] - whole[len(forces):, :-1].T @ forces[nv:]',  # noqa: E501
        'dynamics/limited_problem.py LimitedInverse._motion: d.mass_matrix(self.state[0]) @ a + self.bias -> d.mass_matrix(self.state[0]) @ a - self.bias',  # noqa: E501
        'dynamics/limited_problem.py LimitedInverse._unlimited: mass @ target + self.bias -> mass @ target - self.bias',  # noqa: E501
        'dynamics/limited_problem.py LimitedInverse._motion: d.mass_matrix(self.state[0]) @ a + self.bias - values -> d.mass_matrix(self.state[0]) @ a + self.bias + values',  # noqa: E501
        'algorithms/row_elimination.py _by_the_rule: use + dropped[-1] -> use - dropped[-1]',
        'algorithms/row_elimination.py _by_the_rule: -1 -> 1',
        'compiler/llvm/straight_line.py append_operation: -1.0 -> 1.0',
    ],
    'REPORTED': [
        'simulation/reference.py ReferenceEngine.advance: t + n * h -> t - n * h',
        'simulation/reference.py ReferenceEngine.advance: t + k * h -> t - k * h',
        'simulation/reference.py ReferenceEngine._step: t + h -> t - h',
        'simulation/reference.py ReferenceEngine._step: t + h -> t - h (3)',
    ],
    'OPEN': [
        'bases/icr_steering.py CentredSteering.towards: 1.0 - part -> 1.0 + part',
        'events/transition.py _impending: -motion.tractions[tangent] -> motion.tractions[tangent]',
    ],
}
SURVIVORS = {name: REASONS[reason] for reason, names in NAMES.items() for name in names}
