# SPDX-License-Identifier: Apache-2.0
"""Coulomb's law by the book, and two other solvers of it: Gauss-Seidel and cone programs."""

import numpy as np


def blocks(problem):
    """Return for each contact its row of the normal and its rows of slips."""
    k = len(problem.friction)
    return [(i, k + np.flatnonzero(problem.owner == i)) for i in range(k)]


def broken(p, u, own, friction, load):
    """Return by how much forces and speeds of all contacts miss the law; in one unit."""
    worst = [0.0]
    for i, mine in own:
        push, pull, slip = p[i], p[mine], u[mine]
        limit, speed = friction[i] * push, np.linalg.norm(slip)
        worst += [load[i] - push, -u[i], min(push - load[i], u[i])]
        worst.append(np.linalg.norm(pull) - limit)
        # what slips is held back along its slip by all there is
        against = np.linalg.norm(pull * speed + limit * slip)
        worst.append(against / (max(speed, limit) or 1.0))
    return max(worst)


def by_gauss_seidel(problem, sweeps=3000):
    """Return forces of a projected Gauss-Seidel iteration, contact by contact."""
    W, p = problem.rows @ problem.pushes.T, np.r_[problem.load, np.zeros(len(problem.owner))]
    for _ in range(sweeps):
        before = p.copy()
        for i, mine in blocks(problem):
            p[i] = max(problem.load[i], p[i] - (W[i] @ p + problem.free[i]))
            if len(mine):
                pull = p[mine] - (W[mine] @ p + problem.free[mine]) / np.trace(
                    W[np.ix_(mine, mine)]
                )
                limit = problem.friction[i] * p[i]
                p[mine] = pull * min(1.0, limit / (np.linalg.norm(pull) or 1.0))
        if np.abs(p - before).max() < 1e-14:
            break
    return p


def by_cone_programs(clarabel, problem, most=60):
    """Return forces of cone programs whose normal speeds are shifted by mu |slip| (Acary 2011)."""
    import scipy.sparse

    W, n = problem.rows @ problem.rows.T, len(problem.free)
    shift, sides, lines, sizes = np.zeros(n), [], [], []
    for i, mine in blocks(problem):
        lines += [problem.friction[i] * np.eye(n)[i], *np.eye(n)[mine]]
        sizes.append(clarabel.SecondOrderConeT(1 + len(mine)))
        sides.append(i)
    A = np.vstack([-np.array(lines), -np.eye(n)[sides]])
    b = np.r_[np.zeros(len(lines)), -problem.load]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    p = None
    for _ in range(most):
        matrices = (scipy.sparse.csc_matrix(x) for x in (np.triu(W), A))
        P, rows = matrices
        cones = [*sizes, clarabel.NonnegativeConeT(len(sides))]
        found = clarabel.DefaultSolver(P, problem.free + shift, rows, b, cones, settings).solve()
        if 'Solved' not in str(found.status):
            return p
        p = np.array(found.x)
        u = W @ p + problem.free
        before = shift.copy()
        for i, mine in blocks(problem):
            shift[i] = problem.friction[i] * np.linalg.norm(u[mine])
        if np.abs(shift - before).max() < 1e-10:
            break
    return p
