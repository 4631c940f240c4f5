"""Programs on which an engine lost a class, shrunk by Hypothesis."""

from laws.test_engine_laws import engines_agree


def test_cuts_depend_on_what_comes_later() -> None:
    """Looking only at guards of new events missed `y := a[0]` before `a[x] := 0` before `x := x + 1`."""
    engines_agree(
        "x |-> 0, y |-> 1, b |-> true, a |-> [0, 1], True |> spawn(True |> a[x] := 0; True |> b := y >= x);"
        "True |> spawn(x < 1 |>* x := x + 1); True |> spawn(True |> y := a[0])"
    )
