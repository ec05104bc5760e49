"""Run the command line as ``python -m surefoot``."""

import sys

from surefoot.ui.cli import main

sys.exit(main())
