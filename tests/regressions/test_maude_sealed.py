"""Models that told Maude's interpreter what to do: nothing in a `.maude` file runs, and no crash of it is ours.

Each command runs in a process of its own, as a user would start it: before, some of these models ended theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forking import Forking
from porcini.core.errors import InputError, Place
from porcini.langs.maude.source import Library, cut, read_pieces

SOUP = """mod SEALED is
  protecting NAT .  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
  op t : Nat Nat -> Thread [ctor] .  op c : Nat -> Cell [ctor] .  vars I K V : Nat .
  rl [add] : t(I, s K) c(V) => t(I, K) c(s V) .
  op init : -> Conf .  eq init = t(0, 1) t(1, 2) c(0) .
endm
"""
PATH = os.pathsep.join(str(Path(each).resolve()) for each in sys.path if each)
KEYS = {"module": "SEALED", "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder, with one outside of it."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.maude").write_text(f"ls ; touch {tmp_path / 'made'}\nmod OUTSIDE is endm\n")
    (inside / "model.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in KEYS.items()))
    (inside / "model.maude").write_text(SOUP)
    return inside


def porcini(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "porcini", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PATH} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    environment = os.environ | {"PYTHONPATH": PATH}
    process = Forking(("porcini.cli", "porcini.langs.maude"), environment=environment, safe_path=True)
    yield process
    process.close()


def refused(forking: Forking, folder: Path, *arguments: str) -> str:
    status, out, err = forking(*arguments, folder=folder)
    assert (status, out) == (2, ""), (status, out, err)
    assert "Traceback" not in err and "internal error" not in err
    return err


COMMANDS = [
    "ls ; touch FILE",
    "ll ; touch FILE",
    "ls\n; touch FILE",
    "load ../outside",
    "load ../outside.maude",
    "sload OUTSIDE",
    "in OUTSIDE.maude",
    'load "../outside.maude"',
    "load link",
    "load folder/outside",
    "cd ..\nload outside",
    "pushd ..\nload outside",
    "eof",
    "quit",
    "q",
    "red in NAT : 1 + 1 .",
    "rew 1 .",
    "erew 1 .",
    "set show timing off .",
    "show modules .",
    "pwd",
    "make OTHER is NAT endm",
    "sload file",
    "sload process",
    "sload socket",
    "***( a comment ) ls ; touch FILE",
    "*** ( not ended\nls ; touch FILE",
    '---"a b" ls ; touch FILE',
    "mod ls ; touch FILE\nendm",
    "mod OTHER si\nls ; touch FILE\nendm",
    "mod OTHER is endm ls ; touch FILE\n",
    "mod OTHER is sort endm . op x : -> endm .\nls ; touch FILE\nendm",
    'mod OTHER is op x : -> String . eq x = "endm\nls ; touch FILE\nendm',
    "mod OTHER is op _.`endm`ls`;`touch_ : Nat Nat -> Nat .\nendm",
    "mod OTHER is op _.endm_ : Nat Nat -> Nat .\nls ; touch FILE\nendm",
    "mod OTHER is sort A . endv\nls ; touch FILE\nendm",
    "view V from TRIV to NAT is sort Elt to Nat . endm\nls ; touch FILE\nendv",
    "mod",
    "\x0cls ; touch FILE",
    "\x00ls ; touch FILE",
    "\u00a0ls ; touch FILE",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_no_command_gets_as_far_as_maude(folder: Path, command: str, first: bool) -> None:
    """By reading alone. What is refused has its line."""
    made, model = folder.parent / "made", folder / "model.maude"
    (folder / "link.maude").symlink_to(folder.parent / "outside.maude")
    (folder / "folder").symlink_to(folder.parent)
    text = command.replace("FILE", str(made)).replace("OUTSIDE", str(folder.parent / "outside"))
    model.write_text(f"{text}\n{SOUP}" if first else f"{SOUP}{text}\n")
    with pytest.raises(InputError) as caught:
        read_pieces(model)
    assert caught.value.place is not None and caught.value.file is not None
    assert not made.exists()


@pytest.mark.parametrize("command", ["ls ; touch FILE", "load ../outside", "quit", "eof", "red in NAT : 1 + 1 ."])
def test_commands_are_refused_with_their_line(forking: Forking, folder: Path, command: str) -> None:
    made = folder.parent / "made"
    (folder / "model.maude").write_text(SOUP + command.replace("FILE", str(made)) + "\n")
    for arguments in (["explore"], ["check"], ["transform"]):
        assert refused(forking, folder, *arguments, "model.maude").startswith("model.maude:8:1: error: ")
    assert not made.exists()


def test_what_is_below_the_folder_is_loaded_once(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "one.maude").write_text("load two.maude\nmod ONE is protecting TWO . endm\n")
    (folder / "below" / "two.maude").write_text("sload ../model\nmod TWO is endm\n")
    path = folder / "all.maude"
    path.write_text('load below/one --- twice\nload "below/one.maude"\nsload model-checker\nsload linear\n')
    names = [each.name for each in read_pieces(path)]
    assert names == ["SEALED", "TWO", "ONE", "model-checker", "linear"]
    assert isinstance(read_pieces(path)[-1], Library)


def test_comments_are_left_out_and_lines_stay() -> None:
    text = (
        "*** ls ; touch\n***( mod A is\n endm ( `) ) ) mod B{X :: TRIV} is --- endm\n"
        '  op a---b : -> X$Elt . op s : -> String . eq s = "--- no comment" . endm'
    )
    (piece,) = cut(text, Path("x"))
    assert (piece.name, piece.line) == ("B", 3)
    assert "touch" not in piece.text and "a---b" in piece.text and '"--- no comment"' in piece.text
    assert piece.in_its_lines.splitlines()[3] == text.splitlines()[3]


@pytest.mark.parametrize(
    "text",
    [
        "mod SEALED si sort Conf . endm",
        "mod SEALED",
        "mod",
        "quit",
        "\x7fELF\x02\x01",
        "#!/bin/sh\necho hello",
        "mod SEALED is sort Conf",
        f"mod OTHER is\n{SOUP}",
        "mod SEALED is op : -> . endm",
        "mod SEALED is eq . rl . endm",
        "mod SEALED is protecting . endm",
        "mod SEALED is protecting SEALED . endm",
        "fmod SEALED is sort A . op a : -> A . eq a = . endfm",
        "view SEALED from TRIV to is endv",
    ],
)
def test_what_is_no_theory_is_one_error(forking: Forking, folder: Path, text: str) -> None:
    """Some of these ended the process, without a word."""
    (folder / "model.maude").write_text(text)
    assert "model.maude" in refused(forking, folder, "explore", "model.maude").splitlines()[0]


def test_a_crash_of_maude_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from porcini.langs.maude import bindings

    (folder / "model.maude").write_text("\n" + SOUP.replace("SEALED", "CRASHES"))
    monkeypatch.setattr(bindings, "_put", lambda piece, folder: os.abort())
    with pytest.raises(InputError, match="Maude cannot read it") as caught:
        bindings.load(folder / "model.maude")
    assert caught.value.place == Place(2, 1)


# The current folder


def test_a_stale_pwd_is_not_believed(folder: Path) -> None:
    """With `subprocess.run(cwd=...)`, PWD is still the parent's folder: there is another model of that name."""
    other = folder.parent / "other"
    other.mkdir()
    (other / "model.maude").write_text(SOUP.replace("c(0)", "c(40)"))
    (other / "model.toml").write_text((folder / "model.toml").read_text())
    done = porcini(folder, "explore", "model.maude", "--json", PWD=str(other))
    assert [each["state"] for each in json.loads(done.stdout)["outcomes"]] == [{"Cell": 3}], done


def test_the_current_folder_stays(folder: Path) -> None:
    code = (
        "import os, porcini\nbefore = os.getcwd()\nmodel = porcini.load('model.maude')\n"
        "assert os.getcwd() == before\nporcini.explore(model)\nassert os.getcwd() == before"
    )
    environment = os.environ | {"PYTHONPATH": PATH, "PWD": "/"}
    subprocess.run([sys.executable, "-P", "-c", code], cwd=folder, env=environment, check=True, timeout=60)


@pytest.mark.parametrize("name", ["maude.py", "json.py", "maude/__init__.py", "porcini/__init__.py"])
def test_what_stands_beside_a_model_is_not_run(folder: Path, name: str) -> None:
    """Python puts the current folder on `sys.path` for `-m`: the child must not."""
    (folder / "model.maude").write_text(f"{SOUP}{PROPS}")
    with (folder / "model.toml").open("a") as file:
        file.write('propositions = "SEALED-PROPS"\n')
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(f"open({str(folder.parent / 'made')!r}, 'w')\n")
    done = porcini(folder, "check", "model.maude", "--ltl", "<> x(3)", "--json")
    assert (done.returncode, json.loads(done.stdout)["engine"]) == (0, "maude"), done
    assert not (folder.parent / "made").exists()


PROPS = """sload model-checker
mod SEALED-PROPS is
  protecting SEALED .  including SATISFACTION .  subsort Conf < State .  op x : Nat -> Prop [ctor] .
  var V : Nat .  var S : Conf .  eq c(V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .
endm
"""


@pytest.mark.parametrize("engine", ["maude", "graph"])
def test_a_formula_without_propositions(folder: Path, engine: str) -> None:
    done = porcini(folder, "check", "model.maude", "--ltl", "[] true", "--engine", engine)
    if engine == "graph":
        assert done.returncode == 0, done
    else:
        assert done.returncode == 2 and "names no propositions" in done.stderr, done
