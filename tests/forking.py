"""Commands in processes that need not load everything again: forks of one that was started for nothing else.

What they print, how they end, where they stand and what they find is theirs, as of `python -m porcini`. What
Python does when it starts and when it ends is not seen; the tests that need it start processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_SERVER = """
import importlib, json, os, runpy, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for line in sys.stdin:
    arguments, folder, environment, files = json.loads(line)
    pid = os.fork()
    if pid == 0:
        for number, file in enumerate(files):
            os.dup2(os.open(file, os.O_RDWR), number)
        os.chdir(folder)
        os.environ.update(environment)
        sys.argv = ["porcini", *arguments]
        if not sys.flags.safe_path:
            sys.path[0] = folder
        status = 1
        try:
            runpy.run_module("porcini", run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            status = ended.code
        except BaseException as problem:
            sys.excepthook(type(problem), problem, problem.__traceback__)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Forking:
    """`python -m porcini`, or `python -P -m porcini`, again and again."""

    def __init__(
        self,
        loaded: tuple[str, ...] = ("porcini.cli",),
        *,
        environment: Mapping[str, str] | None = None,
        safe_path: bool = False,
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *["-P"] * safe_path, "-c", _SERVER, *loaded],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def __call__(
        self, *arguments: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Its exit status, standard output and standard error."""
        sending, answering = self._process.stdin, self._process.stdout
        assert sending is not None and answering is not None
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            files = [os.devnull, out.name, err.name]
            asked = [list(map(str, arguments)), str(folder or Path.cwd()), dict(environment or {}), files]
            sending.write(json.dumps(asked) + "\n")
            sending.flush()
            status = int(answering.readline())
            return status, out.read().decode(), err.read().decode()

    def close(self) -> None:
        self._process.communicate()
