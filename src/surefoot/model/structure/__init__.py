"""Structure learning: from data to a graph over the features."""

from surefoot.model.structure.choice import TrainingData, choose_structure
from surefoot.model.structure.greedy import learn_greedy
from surefoot.model.structure.knowledge import Knowledge
from surefoot.model.structure.mutual_information import (
    conditional_mutual_information,
    corrected_mutual_information,
    equal_frequency_codes,
    feature_codes,
)
from surefoot.model.structure.naive import learn_naive
from surefoot.model.structure.notears import learn_notears
from surefoot.model.structure.report import ConvergenceWarning, StructureReport
from surefoot.model.structure.tree import learn_mixed_tree, learn_tree

__all__ = [
    "ConvergenceWarning",
    "Knowledge",
    "StructureReport",
    "TrainingData",
    "choose_structure",
    "conditional_mutual_information",
    "corrected_mutual_information",
    "equal_frequency_codes",
    "feature_codes",
    "learn_greedy",
    "learn_mixed_tree",
    "learn_naive",
    "learn_notears",
    "learn_tree",
]
