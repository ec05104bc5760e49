"""Pictures of explanations, batches and models; matplotlib draws them."""

from surefoot.faces.plots import *  # noqa: F403
from surefoot.faces.plots import __all__ as __all__
