"""An explainer whose process ends at a certain row."""

import os
import signal

from surefoot.explain.ask.asker import Asker
from tests.asking import CounterfactualExplainer


class DyingAsker(Asker):
    """As others, but for rows with ``years == 666``."""

    def rows(self, rows, target):
        if (rows["years"] == 666).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().rows(rows, target)


class Dying(CounterfactualExplainer):
    """Asks with a `DyingAsker`."""

    def __init__(self, classifier, **given):
        super().__init__(classifier, **given)
        self.asker = DyingAsker(self.classifier, self.asker.spec, self.refits)
