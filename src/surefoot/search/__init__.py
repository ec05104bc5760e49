"""Optimisation: from a RobustProblem to a counterfactual."""
