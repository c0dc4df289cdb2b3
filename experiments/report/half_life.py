"""What a half-life gains when the text changes, and what it costs when it does not."""

import pandas as pd

from drawing import chart
from tables import count, spread, table

SETS = {"Ws353": "WS353", "Men": "MEN", "Google": "Google"}


def read(folder):
    return pd.read_csv(folder / "half-life.csv")


def name(half_life):
    return f"{half_life / 1e6:g} M words" if half_life else "none"


def tables(folder):
    rows = read(folder)
    return {"cost": cost(rows), "gain": gain(rows)}


def by_half_life(rows):
    """The longest first, without one before all."""
    for half_life in sorted(rows.half_life.unique(), key=lambda words: -words if words else float("-inf")):
        yield half_life, rows[rows.half_life == half_life]


def cost(rows):
    lines = []
    for half_life, own in by_half_life(rows[rows.part == "stationary"]):
        lines.append([name(half_life), *(spread(own.value[own.measure == measure]) for measure in SETS)])
    return table(["half-life", *SETS.values()], lines)


EARLY = 1_200_000


def gain(rows):
    lines = []
    for half_life, own in by_half_life(rows):
        loss = own[own.measure == "loss"]
        swaps = own[own.part == "swaps"]
        overlap, known = (swaps[swaps.measure == measure] for measure in ["overlap", "gone words known"])
        early = overlap[overlap.streamed_words.between(EARLY, EARLY + 100_000)]
        lines.append([name(half_life), spread(last(loss), 4), spread(100 * early.value), spread(100 * last(overlap)),
                      reached(overlap, overlap.value >= 0.5), reached(known, known.value <= 0.5)])
    new = rows[rows.part == "new text"]
    lines.append(["two models of the new text", "–", "–", spread(100 * new.value), "–", "–"])
    return table(["half-life", "loss at the end", f"overlap after {EARLY / 1e6:g} M words, %", "overlap at the end, %",
                  "words until the overlap is one half", "words until half of the vanished words have left"], lines)


def last(rows):
    """The last value of each seed."""
    return rows.value[rows.streamed_words == rows.groupby("seed").streamed_words.transform("max")]


def reached(rows, holds):
    """The mean number of words after which a condition holds for the first time, if it does with every seed."""
    first = rows[holds].groupby("seed").streamed_words.min()
    return count(first.mean()) if len(first) == rows.seed.nunique() else "–"


def figures(folder):
    rows = read(folder)
    for measure, title, y in [
        ("overlap", "Words that change their meaning", "ten nearest shared with a model of the new text, per cent"),
        ("gone words known", "Words that disappear", "still in the vocabulary, per cent"),
        ("loss", "Loss on a new text", "mean loss of a pair"),
    ]:
        series = []
        for half_life, own in by_half_life(rows[(rows.measure == measure) & (rows.part != "new text")]):
            values = own.groupby("streamed_words").value
            scale = 1 if measure == "loss" else 100
            errors = scale * values.std() if own.seed.nunique() > 1 else None
            label = "without a half-life" if not half_life else f"half-life {name(half_life)}"
            series.append((label, "o-", values.mean().index / 1e6, scale * values.mean(), errors))
        file = {"overlap": "swaps", "gone words known": "gone", "loss": "loss"}[measure]
        chart(folder / f"{file}.svg", title, "million words of the new text", y, series)
