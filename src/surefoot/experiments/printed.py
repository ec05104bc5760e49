"""What the paper prints in its two tables, to stand beside our own figures."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """One cell group of a table: means with standard errors, early stops with mean coverage, timeouts.

    ``coverage`` is in per cent, None where the paper prints a dash; 100 also stands for "about 100".
    """

    seconds: float
    seconds_error: float
    iterations: float
    iterations_error: float
    early_stops: int
    coverage: float | None
    timeouts: int


# (data, structure): number of edges.
EDGES = {
    ("Banknote", "NB"): 0,
    ("Banknote", "TAN"): 3,
    ("Banknote", "BAN"): 5,
    ("Pima", "NB"): 0,
    ("Pima", "TAN"): 7,
    ("Pima", "BAN, 2 parents"): 12,
    ("Pima", "BAN"): 18,
    ("Ionosphere", "NB"): 0,
    ("Ionosphere", "TAN"): 31,
    ("Ionosphere", "BAN, 2 parents"): 25,
}

# (budget, data, structure, method).
PRINTED: dict[tuple[float, str, str, str], Printed] = {
    (0.01, "Banknote", "NB", "milp"): Printed(0.238, 0.013, 4.52, 0.21, 21, 98.29, 0),
    (0.01, "Banknote", "NB", "qcqp"): Printed(0.008, 0.001, 2.00, 0.00, 1, 100.0, 0),
    (0.01, "Banknote", "TAN", "milp"): Printed(0.695, 0.023, 6.84, 0.09, 25, 98.86, 0),
    (0.01, "Banknote", "TAN", "qcqp"): Printed(0.015, 0.003, 2.00, 0.00, 3, 99.97, 0),
    (0.01, "Banknote", "BAN", "milp"): Printed(1.167, 0.046, 7.28, 0.12, 25, 99.17, 0),
    (0.01, "Banknote", "BAN", "qcqp"): Printed(0.027, 0.004, 2.00, 0.00, 0, None, 0),
    (0.01, "Pima", "NB", "milp"): Printed(2.231, 0.304, 5.76, 0.37, 21, 98.79, 0),
    (0.01, "Pima", "NB", "qcqp"): Printed(0.011, 0.004, 1.92, 0.06, 0, None, 0),
    (0.01, "Pima", "TAN", "milp"): Printed(62.067, 12.248, 6.80, 0.12, 25, 98.38, 0),
    (0.01, "Pima", "TAN", "qcqp"): Printed(0.021, 0.004, 2.04, 0.04, 11, 100.0, 0),
    (0.01, "Pima", "BAN, 2 parents", "milp"): Printed(297.143, 80.996, 6.80, 0.18, 24, 98.52, 0),
    (0.01, "Pima", "BAN, 2 parents", "qcqp"): Printed(0.019, 0.003, 1.96, 0.04, 19, 100.0, 0),
    (0.01, "Pima", "BAN", "milp"): Printed(853.243, 154.425, 7.25, 0.09, 24, 98.55, 1),
    (0.01, "Pima", "BAN", "qcqp"): Printed(0.051, 0.005, 2.00, 0.00, 16, 100.0, 0),
    (0.01, "Ionosphere", "NB", "qcqp"): Printed(0.016, 0.001, 2.92, 0.06, 4, 99.98, 0),
    (0.01, "Ionosphere", "TAN", "qcqp"): Printed(5.829, 1.229, 5.67, 0.42, 19, 99.96, 1),
    (0.01, "Ionosphere", "BAN, 2 parents", "qcqp"): Printed(2.684, 2.024, 3.87, 0.28, 20, 99.95, 2),
    (0.05, "Banknote", "NB", "milp"): Printed(0.273, 0.011, 4.68, 0.17, 24, 99.65, 0),
    (0.05, "Banknote", "NB", "qcqp"): Printed(0.010, 0.003, 2.00, 0.00, 0, None, 0),
    (0.05, "Banknote", "TAN", "milp"): Printed(0.950, 0.028, 7.00, 0.10, 25, 99.81, 0),
    (0.05, "Banknote", "TAN", "qcqp"): Printed(0.017, 0.004, 2.00, 0.00, 3, 99.85, 0),
    (0.05, "Banknote", "BAN", "milp"): Printed(1.635, 0.073, 7.60, 0.15, 25, 99.86, 0),
    (0.05, "Banknote", "BAN", "qcqp"): Printed(0.028, 0.003, 2.00, 0.00, 0, None, 0),
    (0.05, "Pima", "NB", "milp"): Printed(2.233, 0.286, 5.88, 0.30, 23, 99.76, 0),
    (0.05, "Pima", "NB", "qcqp"): Printed(0.011, 0.002, 2.00, 0.06, 0, None, 0),
    (0.05, "Pima", "TAN", "milp"): Printed(64.358, 12.327, 6.80, 0.12, 25, 99.67, 0),
    (0.05, "Pima", "TAN", "qcqp"): Printed(0.022, 0.003, 2.12, 0.07, 14, 100.0, 0),
    (0.05, "Pima", "BAN, 2 parents", "milp"): Printed(312.133, 82.927, 6.84, 0.19, 24, 99.72, 0),
    (0.05, "Pima", "BAN, 2 parents", "qcqp"): Printed(0.027, 0.005, 2.08, 0.06, 15, 99.98, 0),
    (0.05, "Pima", "BAN", "milp"): Printed(872.299, 153.856, 7.50, 0.10, 24, 99.79, 1),
    (0.05, "Pima", "BAN", "qcqp"): Printed(0.073, 0.016, 2.00, 0.00, 5, 100.0, 0),
    (0.05, "Ionosphere", "NB", "qcqp"): Printed(0.018, 0.002, 3.00, 0.00, 17, 100.0, 0),
    (0.05, "Ionosphere", "TAN", "qcqp"): Printed(4.028, 0.818, 11.39, 0.69, 22, 99.99, 2),
    (0.05, "Ionosphere", "BAN, 2 parents", "qcqp"): Printed(5.217, 3.341, 6.91, 0.48, 23, 99.99, 2),
}
