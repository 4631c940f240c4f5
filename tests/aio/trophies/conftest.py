"""These need packages from PyPI: `make trophies` runs them, and nothing else does."""

import os

collect_ignore_glob = [] if "PORCINI_TROPHIES" in os.environ else ["*.py"]
