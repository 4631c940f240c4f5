"""Actor programs that broke something once, shrunk."""

from __future__ import annotations

import pytest

from laws.test_actor_laws import engines_agree

FUTURE_IN_A_FIELD = """
interface A { Int start(Int v, A o); Int keep(Int v, A o); Int last(Int v, A o); }
class P implements A {
    Int x = 0;
    Fut<Int> kept;
    Int start(Int v, A o) { o!keep(v, this); if (kept != null) { await kept?; } return v; }
    Int keep(Int v, A o) { kept = o!last(v, this); return v; }
    Int last(Int v, A o) { x = v; return v; }
}
"""


@pytest.mark.parametrize(
    "main",
    [
        "{ A a = new P(); a!start(0, a); a!start(1, a); }",
        "{ A a = new P(); A b = new P(); b!start(0, a); a!start(1, a); }",
    ],
)
def test_which_future_is_waited_for_may_change(main: str) -> None:
    """What decides about `await kept?` depends on `kept`: to know a step it was not enough to run the writers of
    what decided about it in this run.
    """
    engines_agree(FUTURE_IN_A_FIELD + main)


def test_the_nth_child_may_have_another_template() -> None:
    """Layouts were found by pid alone, though which class or method a child has can depend on the branch."""
    engines_agree("""
        interface A { Unit go(A o); Unit one(); Unit two(Int n, Int m); }
        class P implements A {
            Int x = 0;
            Unit go(A o) { if (x == 0) { o!one(); } else { o!two(x, x); } x = x + 1; }
            Unit one() { x = x + 1; }
            Unit two(Int n, Int m) { x = n + m; }
        }
        { A a = new P(); A b = new P(); a!go(b); a!go(a); b!go(a); }
    """)
