"""The paper's figures, each from one function; runs are read from the log."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.experiments.log import Record
from surefoot.experiments.settings import classifier, data_set
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.answer import Round
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import QcqpFormulation
from surefoot.search.paper.program import Options
from surefoot.ui.plots.style import FACTUAL, INK, MUTED, SHADE, SMALL, TARGET, hide_frame, pyplot
from surefoot.ui.plots.surface import plot_surface

Array = NDArray[np.float64]
PAIR = ["variance", "curtosis"]
NORM_STYLES = {1.0: ("p = 1", "-."), 2.0: ("p = 2", "--"), np.inf: ("p = ∞", "-")}
METHOD_STYLES = {
    "milp": ("MILP", "s", "#E69F00"),
    "qcqp": ("QCQP", "o", TARGET),
    "certified": ("certified", "D", "#009E73"),
}
MARKERS = "osD^v"


def iterations_figure(records: list[Record]) -> Any:
    """Contraction factor and number of segments against iterations and runtime (Banknote, BAN, 0.05)."""
    runs = [r for r in records if _is(r, "Banknote", "BAN", "milp") and r["status"] == "optimal"]
    contractions = sorted({r["contraction"] for r in runs})
    if len(contractions) < 2:
        raise DataError("the figure of contraction factors needs runs with several of them")
    axes = pyplot().subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")[1]
    for ax, what, label in zip(axes, ("iterations", "seconds"), ("iterations", "runtime (s)"), strict=True):
        for k, nu in enumerate(contractions):
            segments, means, errors = _by_segments([r for r in runs if r["contraction"] == nu], what)
            style = {"marker": MARKERS[k % 5], "color": f"C{k}", "linestyle": ["-", "--", "-.", ":"][k % 4]}
            ax.errorbar(segments, means, errors, capsize=3, label=f"contraction {nu:g}", **style)
        ax.set_xlabel("initial number of segments")
        ax.set_ylabel(f"{label}, mean and standard error")
        hide_frame(ax)
    axes[0].figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=SMALL,
    )
    return axes


def runtime_figure(records: list[Record]) -> Any:
    """Runtime against distance, MILP and QCQP of one factual linked (Pima, BAN with two parents, 0.05)."""
    chosen = {method: _paired(records, method) for method in METHOD_STYLES}
    if not any(chosen.values()):
        raise DataError("the figure of runtimes needs runs on Pima with two parents")
    ax = pyplot().subplots(figsize=(6.6, 4.4), layout="constrained")[1]
    for factual, (x, y) in chosen["milp"].items():
        if factual in chosen["qcqp"]:
            ends = (x, chosen["qcqp"][factual][0]), (y, chosen["qcqp"][factual][1])
            ax.plot(*ends, color=MUTED, linestyle=":", linewidth=0.9, zorder=1)
    for method, (label, marker, color) in METHOD_STYLES.items():
        points = np.array(list(chosen[method].values())).reshape(-1, 2)
        ax.scatter(*points.T, marker=marker, color=color, edgecolor=INK, linewidth=0.5, label=label, zorder=2)
    ax.set_yscale("log")
    ax.set_xlabel("Mahalanobis distance between factual and counterfactual (standard deviations)")
    ax.set_ylabel("runtime (s), logarithmic")
    hide_frame(ax)
    ax.figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return ax


def balls_figure() -> Any:
    """Mahalanobis balls of radius one and two around the mean of a class, before and after whitening."""
    clf = _two_features()
    network, rows = clf.network(clf.classes_[0]), data_set("Banknote")
    whitening = network.whitening()
    points = rows.X.loc[rows.y == 0, PAIR].to_numpy()[::4]
    axes = pyplot().subplots(1, 2, figsize=(9.0, 4.6), layout="constrained")[1]
    for p, (label, style) in NORM_STYLES.items():
        for radius in (1, 2):
            u = radius * _unit_circle(p)
            line = {"linestyle": style, "color": INK, "linewidth": 2.2 if radius == 1 else 1.2}
            name = f"{label}, radius {radius}"
            axes[0].plot(*(network.means + whitening.undo(u)).T, label=name, **line)
            axes[1].plot(*u.T, **line)
    for ax, cloud in zip(axes, (points, whitening.apply(points - network.means)), strict=True):
        ax.scatter(*cloud.T, s=8, color=FACTUAL, alpha=0.45, linewidth=0, zorder=0)
        hide_frame(ax)
    axes[0].set(xlabel="variance", ylabel="curtosis", title="original features")
    axes[1].set(xlabel="whitened coordinate 0", ylabel="whitened coordinate 1", title="after whitening")
    axes[1].set_aspect("equal")
    axes[0].figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return axes


def refinement_figure(budget: float = 0.6) -> Any:
    """The cutting set at work: candidates, the perturbations that break them, and what withstands these."""
    clf = _two_features()
    row = data_set("Banknote").X[PAIR].iloc[0].to_numpy()
    problem = CounterfactualExplainer(clf, preset="paper", budget=budget, norm=2).problem(row, 1)
    rounds = _rounds(problem)[:4]
    axes = pyplot().subplots(
        1,
        len(rounds),
        figsize=(3.1 * len(rounds), 3.9),
        layout="constrained",
        sharex=True,
        sharey=True,
        squeeze=False,
    )[1][0]
    known: list[Array] = [np.zeros(2)]
    window = _window(problem, rounds)
    for number, (ax, current) in enumerate(zip(axes, rounds, strict=True), 1):
        _draw_region(ax, problem, window, known)
        _draw_round(ax, problem, current, known)
        ax.set_title(_title(number, current), fontsize=9)
        if current.perturbation is not None:
            known.append(current.perturbation)
    axes[0].set_ylabel(PAIR[1])
    labelled = {
        label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    axes[0].figure.legend(
        labelled.values(), labelled, loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL
    )
    return axes


def surface_figure() -> Any:
    """The log-odds over two features: neither convex nor concave."""
    return plot_surface(classifier("Banknote", "TAN"), 1, features=PAIR)


def _is(record: Record, data: str, structure: str, method: str, budget: float = 0.05) -> bool:
    wanted = (data, structure, method, budget)
    return tuple(record[name] for name in ("data", "structure", "method", "budget")) == wanted


def _by_segments(runs: list[Record], what: str) -> tuple[list[int], list[float], list[float]]:
    segments = sorted({r["n_segments"] for r in runs})
    groups = [[r[what] for r in runs if r["n_segments"] == m] for m in segments]
    errors = [float(np.std(g, ddof=1) / np.sqrt(len(g))) if len(g) > 1 else 0.0 for g in groups]
    return segments, [float(np.mean(g)) for g in groups], errors


def _paired(records: list[Record], method: str) -> dict[int, tuple[float, float]]:
    """(distance, seconds) by factual; of two solvers the open-source one."""
    runs = [r for r in records if _is(r, "Pima", "BAN, 2 parents", method) and r["status"] == "optimal"]
    plain = [r for r in runs if (r["n_segments"], r["contraction"]) == (20, 0.5)]
    ordered = sorted(plain, key=lambda r: bool(r["backend"] == "scip"))
    return {r["factual"]: (r["distance"], r["seconds"]) for r in ordered}


def _two_features() -> ConditionalGaussianNetworkClassifier:
    bank = data_set("Banknote")
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X[PAIR], bank.y)


def _unit_circle(p: float) -> Array:
    t = np.linspace(0, 2 * np.pi, 401)
    u = np.column_stack([np.cos(t), np.sin(t)])
    return np.asarray(u / np.linalg.norm(u, p, axis=1, keepdims=True))


def _rounds(problem: RobustProblem) -> list[Round]:
    backend = choose_backend("qcqp", None)
    formulation = QcqpFormulation(problem, backend, Options(time_limit=60.0, gap=1e-4), 1e-3)
    return list(cutting_set(problem, formulation, tol=1e-3, time_limit=60.0, max_iterations=20))


def _window(problem: RobustProblem, rounds: list[Round]) -> list[Array]:
    """A grid of values for each feature that holds every candidate with its uncertainty set."""
    points = np.array([problem.factual, *(r.candidate for r in rounds if r.candidate is not None)])
    room = 1.6 * problem.budget * problem.unit
    low, high = points.min(axis=0) - room, points.max(axis=0) + room
    return [np.linspace(a, b, 240) for a, b in zip(low, high, strict=True)]


def _draw_region(ax: Any, problem: RobustProblem, window: list[Array], known: list[Array]) -> None:
    """Where the decision is the target, and what of it withstands the known perturbations."""
    points = np.stack(np.meshgrid(*window), axis=-1)
    flat, shape = points.reshape(-1, 2), points.shape[:2]
    withstands = np.min([_margins(problem, flat + d) for d in known], axis=0).reshape(shape)
    ax.contourf(*window, withstands, levels=[0, np.inf], colors=[SHADE])
    ax.contour(*window, _margins(problem, flat).reshape(shape), levels=[0], colors=[INK], linewidths=1.6)
    ax.fill([], [], color=SHADE, label="withstands the known perturbations")
    ax.plot([], [], color=INK, linewidth=1.6, label="decision boundary")
    ax.set(xlim=window[0][[0, -1]], ylim=window[1][[0, -1]])


def _draw_round(ax: Any, problem: RobustProblem, current: Round, known: list[Array]) -> None:
    if current.candidate is None:
        raise DataError("the search behind the figure found no point")
    x, x0 = current.candidate, problem.factual
    ball = x + problem.whitening.undo(problem.budget * _unit_circle(problem.norm))
    ax.plot(*ball.T, color=TARGET, linestyle="--", linewidth=1.2, label="uncertainty set of the candidate")
    ax.plot(*x0, "o", color=FACTUAL, markerfacecolor="white", label="factual")
    ax.plot(*x, "D", color=TARGET, markeredgecolor=INK, label="candidate")
    for k, d in enumerate(known[1:]):
        ax.plot(*(x + d), "x", color=MUTED, label="known perturbations" if k == 0 else None)
    if current.violation > 1e-3 and current.perturbation is not None:
        ax.plot(*(x + current.perturbation), "*", color=FACTUAL, markersize=11, label="worst perturbation")
    ax.set_xlabel(PAIR[0])
    hide_frame(ax)


def _title(number: int, current: Round) -> str:
    violation = max(current.violation, 0)
    return f"round {number}: distance {current.distance:.3f}\nviolation {violation:.3f}"


def _margins(problem: RobustProblem, points: Array) -> Array:
    return np.asarray(-problem.violation(np.zeros(problem.n_features), points))
