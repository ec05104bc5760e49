"""Data: the paper's three data sets, draws from known networks, and a user's own tables."""

from surefoot.datasets.bundled import load_banknote, load_ionosphere, load_pima
from surefoot.datasets.dataset import Dataset
from surefoot.datasets.synthetic import SyntheticDataset, random_dag, random_tree, synthetic
from surefoot.datasets.table import table

__all__ = [
    "Dataset",
    "SyntheticDataset",
    "load_banknote",
    "load_ionosphere",
    "load_pima",
    "random_dag",
    "random_tree",
    "synthetic",
    "table",
]
