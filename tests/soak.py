"""Generated programs until stopped: the laws with fresh seeds. Prints how many were seen, or a shrunk failure.

make soak                     until Ctrl-C
SOAK_SECONDS=1800 make soak   for half an hour
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from laws import test_gcl_laws as laws

TESTS = [test for name, test in vars(laws).items() if name.startswith("test_")]
ROUND = 200


def main() -> int:
    limit = float(os.environ.get("SOAK_SECONDS", "inf"))
    started, seen = time.monotonic(), 0
    try:
        while time.monotonic() - started < limit:
            for test in TESTS:
                settings(test, max_examples=ROUND, database=None, derandomize=False)()
                seen += ROUND
                print(f"\r{seen:,} programs, {time.monotonic() - started:,.0f} s", end="", flush=True)
    except KeyboardInterrupt:
        pass
    print(f"\n{seen:,} programs seen, every law held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
