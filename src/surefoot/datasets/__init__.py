"""Data: tables shipped with the package, draws from known networks, and a user's own tables."""

from surefoot.datasets.bundled import load_banknote, load_german_credit, load_ionosphere, load_pima
from surefoot.datasets.synthetic import SyntheticDataset, random_dag, random_tree, synthetic
from surefoot.table.dataset import Dataset
from surefoot.table.labelled import table
from surefoot.table.suspicions import data_warnings
from surefoot.table.typed import Table, read_table

__all__ = [
    "Dataset",
    "SyntheticDataset",
    "Table",
    "data_warnings",
    "load_banknote",
    "load_german_credit",
    "load_ionosphere",
    "load_pima",
    "random_dag",
    "random_tree",
    "read_table",
    "synthetic",
    "table",
]
