"""How typical an answer can be at best, by Gurobi and from the model's regressions alone.

max over x of the least log density over the cube around x, where the decision holds on the whole cube: a
cutting-set method. All corners stand for the density, which is concave; a nonconvex program finds the
perturbation that undoes the decision.
"""

import gurobipy
import numpy as np

TOLERANCE = 1e-6


def largest_share(clf, problem, target):
    """The share of the target's rows below max_x min_d log p(x + d), the decision holding at every x + d."""
    labels = clf.classes_.tolist()
    t = labels.index(target)
    density = gaussian(clf, t)
    rivals = [minus(gaussian(clf, t), gaussian(clf, r)) for r in range(len(labels)) if r != t]
    odds = [np.log(clf.class_prior_[t] / clf.class_prior_[r]) for r in range(len(labels)) if r != t]
    corners = problem.ball.vertices()
    scenarios = [[np.zeros(problem.n_features)] for _ in rivals]
    while True:
        x, level = most_typical(problem.domain, density, corners, rivals, odds, scenarios)
        worst = [undone(problem.ball, g, x) for g in rivals]
        if all(value + odd >= -TOLERANCE for (_, value), odd in zip(worst, odds, strict=True)):
            return float(np.interp(level, clf.density_percentiles_[t], np.arange(101.0))) / 100
        for found, (d, _) in zip(scenarios, worst, strict=True):
            found.append(d)


def gaussian(clf, label):
    """Log density -(x - m)' P (x - m) / 2 + c as (Q, q, c) of x'Qx + q'x + c, from the regressions."""
    network = clf.networks_[label]
    A = (np.eye(len(network.weights)) - network.weights) / np.sqrt(network.variances)[:, None]
    b = network.intercepts / np.sqrt(network.variances)
    constant = -0.5 * (b @ b + np.log(2 * np.pi * network.variances).sum())
    return -0.5 * A.T @ A, A.T @ b, constant


def minus(g, h):
    return tuple(a - b for a, b in zip(g, h, strict=True))


def most_typical(domain, density, corners, rivals, odds, scenarios):
    model = quiet()
    unit = 1 / np.sqrt(-2 * np.diag(density[0]))  # conditional standard deviations: numbers near 1
    y = model.addMVar(len(unit), lb=domain.low / unit, ub=domain.high / unit)
    level = model.addVar(lb=-1e4)
    for d in corners:
        model.addConstr(shifted(density, unit, d, y) >= level)
    for g, odd, found in zip(rivals, odds, scenarios, strict=True):
        for d in found:
            model.addConstr(shifted(g, unit, d, y) + odd >= 0)
    model.setObjective(level, gurobipy.GRB.MAXIMIZE)
    model.optimize()
    return y.X * unit, level.X


def shifted(g, unit, d, y):
    """g(unit * y + d) as an expression of y."""
    Q, q, c = g
    gradient = unit * (q + 2 * Q @ d)
    return y @ (unit[:, None] * Q * unit) @ y + gradient @ y + float(d @ Q @ d + q @ d + c)


def undone(ball, g, x):
    """The perturbation of the cube under which g is least, and its value there."""
    Q, q, c = g
    B = ball.basis
    model = quiet()
    u = model.addMVar(B.shape[1], lb=-ball.radius, ub=ball.radius)
    model.setObjective(u @ (B.T @ Q @ B) @ u + (B.T @ (q + 2 * Q @ x)) @ u)
    model.optimize()
    return B @ u.X, float(model.ObjBound + x @ Q @ x + q @ x + c)


def quiet():
    environment = gurobipy.Env(params={"OutputFlag": 0, "Threads": 1})
    model = gurobipy.Model(env=environment)
    model.Params.NonConvex, model.Params.MIPGap, model.Params.FeasibilityTol = 2, 1e-6, 1e-9
    return model
