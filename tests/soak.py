"""Generated programs until stopped: the laws, round after round with fresh seeds.

make soak                     until Ctrl-C, or until a law is broken: then the shrunk program is printed
SOAK_SECONDS=1800 make soak   for half an hour
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from random import SystemRandom

ROUND = 1000
LAWS = Path(__file__).parent / "laws"


def programs_of(laws: str) -> int:
    """How many programs a file of laws generates in one round, for the laws with most of them."""
    share = re.search(r"\nMANY = settings\(max_examples=(?:max\()?PROGRAMS(?: // (\d+))?", laws)
    return ROUND // int(share[1] or 1) * laws.count("\n@MANY") if share else 0


def main() -> int:
    limit = float(os.environ.get("SOAK_SECONDS", "inf"))
    programs = sum(programs_of(path.read_text(encoding="utf-8")) for path in LAWS.glob("test_*.py"))
    started, seen = time.monotonic(), 0
    environment = os.environ | {"PROGRAMS": str(ROUND), "CI": ""}
    try:
        while time.monotonic() - started < limit:
            seed = SystemRandom().randrange(2**32)
            command = [sys.executable, "-m", "pytest", "-q", "-x", str(LAWS), f"--hypothesis-seed={seed}"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"\nseed {seed}\n{done.stdout}")
                return 1
            seen += programs
            print(f"{seen:,} programs, {time.monotonic() - started:,.0f} s", flush=True)
    except KeyboardInterrupt:
        pass
    print(f"{seen:,} programs seen, every law held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
