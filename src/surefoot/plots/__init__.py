"""Figures: drawn with matplotlib, which is loaded only when one is drawn."""

from surefoot.plots.batch import plot_coverage, plot_distances, plot_feature_shares
from surefoot.plots.changes import plot_changes
from surefoot.plots.dag import plot_dag
from surefoot.plots.plane import plot_plane, plot_whitened_plane
from surefoot.plots.surface import plot_surface
from surefoot.plots.trace import plot_trace

__all__ = [
    "plot_changes",
    "plot_coverage",
    "plot_dag",
    "plot_distances",
    "plot_feature_shares",
    "plot_plane",
    "plot_surface",
    "plot_trace",
    "plot_whitened_plane",
]
