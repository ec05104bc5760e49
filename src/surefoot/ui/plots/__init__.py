"""Figures: drawn with matplotlib, which is loaded only when one is drawn."""

from surefoot.ui.plots.audit import plot_audit
from surefoot.ui.plots.batch import plot_coverage, plot_distances, plot_feature_shares
from surefoot.ui.plots.changes import plot_changes
from surefoot.ui.plots.dag import plot_dag
from surefoot.ui.plots.levers import plot_levers
from surefoot.ui.plots.plane import plot_plane, plot_whitened_plane
from surefoot.ui.plots.surface import plot_surface
from surefoot.ui.plots.trace import plot_trace
from surefoot.ui.plots.trade_off import plot_trade_off

__all__ = [
    "plot_audit",
    "plot_changes",
    "plot_coverage",
    "plot_dag",
    "plot_distances",
    "plot_feature_shares",
    "plot_levers",
    "plot_plane",
    "plot_surface",
    "plot_trace",
    "plot_trade_off",
    "plot_whitened_plane",
]
