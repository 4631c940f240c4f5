"""`python -m porcini`."""

import sys

from porcini.cli import main

sys.exit(main())
