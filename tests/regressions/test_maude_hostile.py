"""A corpus of hostile models: nothing is written, started or read outside of their folder, and each ends in one
object within its limits."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forking import Forking

maude = pytest.importorskip("maude")

PATH = os.pathsep.join(str(Path(each).resolve()) for each in sys.path if each)
PACKAGE = Path(maude.__file__).parent
KEYS = {"module": "HOSTILE", "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}
MODEL = """BEFORE
mod HOSTILE is
  protecting NAT .  protecting STRING .  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op nobody : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: nobody] .
  op t : Nat Nat -> Thread [ctor] .  op c : Nat -> Cell [ctor] .  vars I K V : Nat .  var S : String .
  op f : Nat -> Nat .  op p : Nat Nat -> Nat [ctor] .
  INSIDE
  rl [add] : t(I, s K) c(V) => t(I, K) c(VALUE) .
  op init : -> Conf .  eq init = t(0, 1) t(1, 2) c(0) .
endm
AFTER
"""
SHELL = "ls ; touch MADE"
EXTERNAL = {
    "file": 'openFile(fileManager, me, "MADE", "w")',
    "process": 'createProcess(processManager, me, "touch", "MADE", none)',
    "socket": "createServerTcpSocket(socketManager, me, 8811, 5)",
    "time": "getTimeSinceEpoch(timeManager, me)",
}


def brought_along(name: str) -> str:
    """A file of Maude's own, with what it loads."""
    lines = (PACKAGE / f"{name}.maude").read_text().splitlines()
    return "\n".join(brought_along(line.split()[1]) if re.match("s?load ", line) else line for line in lines)


HOSTILE: dict[str, dict[str, str]] = {
    # Commands, wherever one can stand
    "a command before": {"BEFORE": SHELL},
    "a command after": {"AFTER": SHELL},
    "a command after the end of a module": {"INSIDE": f"endm {SHELL}\nmod OTHER is"},
    "a command in a string": {"INSIDE": f'eq f(V) = length("endm\n{SHELL}\n") .'},
    "a command in a comment": {"INSIDE": f"***( endm ) endm\n{SHELL}\nmod OTHER is"},
    "a command in a name": {"INSIDE": f"op endm`{SHELL.replace(' ', '`')} : -> Nat ."},
    "a command in a label": {"INSIDE": f"rl [endm {SHELL}] : c(V) => c(V) ."},
    "a command after a view": {"BEFORE": f"view V from TRIV to NAT is sort Elt to Nat . endv {SHELL}"},
    "a command in metadata": {"INSIDE": f'eq f(V) = V [metadata "endm {SHELL}"] .'},
    "a command in the description": {"INITIAL": f"init .) endm {SHELL}"},
    "a command in a print attribute": {"INSIDE": f'eq f(V) = V [print "{SHELL}"] .', "VALUE": "f(V)"},
    "quit": {"AFTER": "quit"},
    "a folder that is gone to": {"BEFORE": "cd ..\nload secret"},
    # Files
    "a file outside": {"BEFORE": "load ../secret"},
    "a file by its whole path": {"BEFORE": "load OUTSIDE/secret.maude"},
    "a link to a file outside": {"BEFORE": "load link"},
    "a folder that is a link": {"BEFORE": "load folder/secret"},
    "a pipe": {"BEFORE": "load pipe"},
    "a device": {"BEFORE": "load /dev/zero"},
    "a file that loads itself": {"BEFORE": "load model.maude"},
    # Objects outside of Maude
    **{f"an external object: {name}": {"BEFORE": f"sload {name}"} for name in EXTERNAL},
    **{
        f"an external object, brought along: {name}": {
            "BEFORE": brought_along(name),
            "INSIDE": f"including {name.upper()} .  op me : -> Oid .  op out : Configuration -> Cell [ctor] .",
            "MORE": f"out({call})",
        }
        for name, call in EXTERNAL.items()
    },
    "Maude in Maude": {
        "INSIDE": "protecting META-LEVEL .  eq f(V) = length(printed('HOSTILE)) .  op printed : Qid -> String .",
        "VALUE": "f(V)",
    },
    # Equations without an end, and terms without a measure
    "an equation that goes on for ever": {"INSIDE": "eq f(V) = f(V) .", "VALUE": "f(V)"},
    "two of them": {"INSIDE": "op g : Nat -> Nat . eq f(V) = g(V) . eq g(V) = f(V) .", "VALUE": "f(V)"},
    "one that goes deeper": {"INSIDE": "eq f(V) = s f(V) .", "VALUE": "f(V)"},
    "one that grows": {"INSIDE": "eq f(V) = f(p(V, V)) .", "VALUE": "f(V)"},
    "one that grows wider": {"INSIDE": "eq f(V) = f(p(f(V), s V)) .", "VALUE": "f(V)"},
    "one of the initial state": {"INSIDE": "eq f(V) = f(s V) .", "INITIAL": "t(0, f(0)) c(0)"},
    "an equation without an end in a condition": {
        "INSIDE": "eq f(V) = f(V) . crl [stuck] : t(I, s K) => t(I, 0) if f(K) = 0 ."
    },
    "a number of terabytes": {"VALUE": "2 ^ (2 ^ 43)"},
    "a number that is shifted far": {"VALUE": "1 << (2 ^ 43)"},
    "a text of terabytes": {
        "INSIDE": "op g : Nat String -> Nat . eq g(s K, S) = g(K, S + S) . eq g(0, S) = ascii(substr(S, 7, 1)) .",
        "VALUE": 'g(43, "0123456789")',
    },
    "a term as deep as the sea": {
        "INSIDE": "op g : Nat Nat -> Nat . eq g(s K, V) = g(K, p(V, 1)) . eq g(0, V) = V .",
        "VALUE": "g(9000000, V)",
    },
    "a membership without an end": {
        "INSIDE": "sort Odd . subsort Odd < Nat . cmb f(V) : Odd if f(s V) : Odd .",
        "VALUE": "f(V)",
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.maude").write_text(f"ls ; touch {tmp_path / 'made'}\nfmod SECRET is endfm\n")
    (inside / "link.maude").symlink_to(tmp_path / "secret.maude")
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe.maude")
    return inside


def written(folder: Path, name: str) -> None:
    """The model of that name, with its description."""
    parts = dict.fromkeys(("BEFORE", "INSIDE", "AFTER"), "") | {
        "VALUE": "s V",
        "INITIAL": "init",
        "MORE": "nobody",
    }
    parts |= HOSTILE[name]
    text = MODEL.replace("c(0) .", f"c(0) {parts['MORE']} .")
    for key in ("BEFORE", "INSIDE", "AFTER", "VALUE"):
        text = text.replace(key, parts[key])
    outside = str(folder.parent)
    (folder / "model.maude").write_text(text.replace("MADE", f"{outside}/made").replace("OUTSIDE", outside))
    keys = KEYS | {"initial": parts["INITIAL"].replace("MADE", f"{outside}/made")}
    (folder / "model.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in keys.items()))


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    process = Forking(("porcini.cli", "porcini.langs.maude"), environment={"PYTHONPATH": PATH}, safe_path=True)
    yield process
    process.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_ends_in_one_object(forking: Forking, folder: Path, name: str) -> None:
    written(folder, name)
    before = sorted(folder.parent.rglob("*"))
    command = ("explore", "check")[len(name) % 2]
    started = time.monotonic()
    status, out, err = forking(command, "model.maude", "--json", "--timeout", "2", folder=folder)
    assert time.monotonic() - started < 30
    found = json.loads(out)
    wanted = 2 if "error" in found else {"holds": 0, "violated": 1, "unknown": 3}[found["verdict"]]
    assert status == wanted and "Traceback" not in err, (status, err)
    assert len(err.splitlines()) <= (3 if "error" in found else 0)  # a line, its source, and a caret
    assert sorted(folder.parent.rglob("*")) == before
    if "an end" in name or "for ever" in name or "goes deeper" in name:
        assert wanted == 3, out
