"""Structure learning: from data to a graph over the features."""

from surefoot.structure.choice import TrainingData, choose_structure
from surefoot.structure.knowledge import Knowledge
from surefoot.structure.mutual_information import conditional_mutual_information, equal_frequency_codes
from surefoot.structure.naive import learn_naive
from surefoot.structure.notears import learn_notears
from surefoot.structure.report import ConvergenceWarning, StructureReport
from surefoot.structure.tree import learn_tree

__all__ = [
    "ConvergenceWarning",
    "Knowledge",
    "StructureReport",
    "TrainingData",
    "choose_structure",
    "conditional_mutual_information",
    "equal_frequency_codes",
    "learn_naive",
    "learn_notears",
    "learn_tree",
]
