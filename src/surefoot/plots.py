"""Pictures of explanations, batches and models; matplotlib draws them."""

from surefoot.ui.plots import *  # noqa: F403
from surefoot.ui.plots import __all__ as __all__
