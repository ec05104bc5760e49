"""Run the command line as ``python -m surefoot``."""

import sys

from surefoot.faces.cli import main

sys.exit(main())
