"""The family of errors and warnings: each also inherits what it means."""

from typing import Any

from surefoot.formats import one_line


class SurefootError(Exception):
    """Base of every error that surefoot raises on purpose; its text is one line, whatever names are in it."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class DataError(SurefootError, ValueError):
    """The data cannot be used; the message names the column and the row."""


class ZeroVarianceError(DataError):
    """A feature has no variance left given its parents.

    Parameters
    ----------
    feature : int
        Its position.
    """

    def __init__(self, feature: int) -> None:
        super().__init__(f"feature {feature} has no variance left given its parents")
        self.feature = feature


class StructureError(SurefootError, ValueError):
    """The graph cannot be used: a cycle, an unknown feature, contradictory prior knowledge."""


class ModelFileError(SurefootError, ValueError):
    """A file is not a model that this version can read, or it has been changed."""


class MissingDependencyError(SurefootError, ImportError):
    """An optional package is needed; the message says how to get it."""


class SurefootWarning(UserWarning):
    """Base of every warning that surefoot issues; its text is one line, as that of an error."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class ProblemError(SurefootError, ValueError):
    """The question itself makes no sense: a threshold outside (0, 1), a negative budget, an empty domain."""


class BackendError(SurefootError, RuntimeError):
    """A solver cannot be used for this."""


class BackendMissingError(BackendError, ImportError):
    """The solver's package is not installed; the message has the pip line."""


class BackendUnlicensedError(BackendError):
    """The solver is installed, but its licence is missing or has expired."""


class BackendTooLargeError(BackendError):
    """The program is larger than the solver's licence permits."""


class NoCounterfactualError(SurefootError, RuntimeError):
    """There is no counterfactual to return; ``explanation`` says how far the search got.

    Parameters
    ----------
    explanation : Explanation
        With ``counterfactual=None``, the status and the bound.
    """

    def __init__(self, explanation: Any) -> None:
        super().__init__(explanation.outcome)
        self.explanation = explanation
