"""Children: what they may do, and what becomes of their parents."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porcini.core import children, kernel
from porcini.core.children import ChildDied, announce, run_in_child, run_sealed, time_limit
from porcini.core.errors import InputError, Place

needs_linux = pytest.mark.skipif(
    sys.platform != "linux" or kernel._libc().syscall(444, None, 0, 1) < 1, reason="a kernel with Landlock"
)


def refused(work: Callable[[], object]) -> bool:
    """Is something refused in a sealed child?"""

    def tried(own: Path) -> bool:
        try:
            work()
        except PermissionError:
            return True
        return False

    return run_sealed(tried, [])


@needs_linux
def test_a_sealed_child_has_no_network_and_starts_nothing() -> None:
    assert refused(socket.socket) and refused(lambda: subprocess.run(["true"], check=False))
    assert refused(lambda: os.execv(sys.executable, [sys.executable, "-c", ""]))
    assert run_sealed(lambda _: os.system("true"), []) != 0


@needs_linux
def test_a_sealed_child_writes_into_its_own_folder_only(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("1")
    assert refused(lambda: (tmp_path / "made").write_text("x"))
    assert refused(lambda: (tmp_path / "there").unlink()) and refused(lambda: (tmp_path / "there").open("a"))
    assert refused(lambda: (tmp_path / "folder").mkdir())
    assert refused(lambda: (tmp_path / "link").symlink_to("/"))
    assert [each.name for each in tmp_path.iterdir()] == ["there"]
    own = run_sealed(lambda own: str((own / "made").write_text("x") and own), [])
    assert not Path(own).exists()


@needs_linux
def test_a_sealed_child_reads_what_it_was_given_only(tmp_path: Path) -> None:
    given, other = tmp_path / "given", tmp_path / "other"
    given.mkdir()
    (given / "file").write_text("1")
    other.write_text("2")
    assert run_sealed(lambda _: (given / "file").read_text(), [given]) == "1"
    assert refused(other.read_text) and refused(lambda: Path("/etc/passwd").read_text())
    (given / "link").symlink_to(other)
    with pytest.raises(PermissionError):
        run_sealed(lambda _: (given / "link").read_text(), [given])


def test_a_child_has_no_environment_and_no_other_descriptors(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:

        def looked(own: Path) -> tuple[dict[str, str], bool]:
            try:
                os.fstat(file.fileno())
            except OSError:
                return dict(os.environ), False
            return dict(os.environ), True

        assert run_sealed(looked, []) == ({}, False)


def test_what_a_child_writes_to_a_descriptor_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    run_sealed(lambda _: os.write(1, b"out") + os.write(2, b"err"), [])
    assert capfd.readouterr() == ("", "")


def test_a_call_that_does_not_come_back_ends_the_child() -> None:
    def stuck(own: Path) -> None:
        announce("a.maude:3")
        with time_limit():
            while True:
                pass

    started = time.monotonic()
    with pytest.raises(ChildDied) as caught:
        run_sealed(stuck, [], longest=0.2)
    assert (caught.value.signal, caught.value.announced) == (signal.SIGPROF, "a.maude:3")
    assert time.monotonic() - started < 10


def test_patience_is_for_calls_in_sealed_children() -> None:
    def busy(own: Path) -> int:
        with time_limit():
            pass
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        return 7

    assert run_sealed(busy, [], longest=0.2) == 7
    with time_limit():
        assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_errors_come_back_as_they_are() -> None:
    def wrong() -> None:
        raise InputError("no", file="f", place=Place(2, 3), hint="h")

    with pytest.raises(InputError) as caught:
        run_in_child(wrong)
    assert str(caught.value) == "f:2:3: error: no (h)"


def test_a_child_that_dies_or_takes_too_long() -> None:
    with pytest.raises(ChildDied) as caught:
        run_in_child(os.abort)
    assert caught.value.signal == signal.SIGABRT
    with pytest.raises(TimeoutError):
        run_in_child(lambda: time.sleep(60), timeout=0.2)


def test_a_large_stack() -> None:
    def deep(n: int) -> int:
        return 0 if n == 0 else 1 + deep(n - 1)

    def work() -> int:
        sys.setrecursionlimit(10**6)
        return max(map(deep, [50_000]))

    assert run_in_child(work, large_stack=True) == 50_000


def test_a_child_cannot_make_its_parent_call_something() -> None:
    class Call:
        def __reduce__(self) -> tuple[object, ...]:
            return os.getpid, ()

    with pytest.raises(pickle.UnpicklingError):
        run_in_child(Call)


def test_memory_is_bounded() -> None:
    with pytest.raises(MemoryError):
        run_in_child(lambda: len(bytearray(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))))


def test_what_cannot_be_sent_is_told() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match="pickle"):
        run_in_child(lambda: lambda: None)
    assert not children.is_sealed()
