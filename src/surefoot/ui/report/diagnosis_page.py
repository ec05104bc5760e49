"""How good a model is, as one page."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.exceptions import MissingDependencyError
from surefoot.files import write_whole
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.diagnosis import Diagnosis
from surefoot.ui.report.model import model_facts, model_kind
from surefoot.ui.report.pictures import as_source
from surefoot.ui.report.templates import rendered


def write_diagnosis(
    diagnosis: Diagnosis,
    path: str | os.PathLike[str],
    classifier: ConditionalGaussianNetworkClassifier,
    *,
    title: str = "How good is this model?",
) -> Path:
    """Write one HTML page that opens offline: the comparison, its verdict, calibration and residuals.

    Parameters
    ----------
    diagnosis : Diagnosis
    path : str or path
        Where to write.
    classifier : ConditionalGaussianNetworkClassifier
        The one that was diagnosed.
    title : str
        Heading of the page.
    """
    page = rendered(
        "diagnosis.html",
        title=title,
        diagnosis=diagnosis,
        picture=_picture(diagnosis),
        kind=model_kind(classifier),
        facts=model_facts(classifier),
    )
    target = Path(path)
    write_whole(target, page)
    return target


def _picture(diagnosis: Diagnosis) -> str | None:
    try:
        return as_source(diagnosis.plot())
    except MissingDependencyError:
        return None
