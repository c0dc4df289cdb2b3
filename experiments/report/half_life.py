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


def gain(rows):
    lines = []
    for half_life, own in by_half_life(rows):
        loss = own[own.measure == "loss"]
        ends = loss[loss.streamed_words == loss.groupby("seed").streamed_words.transform("max")]
        overlap = own[own.measure == "overlap"]
        last = overlap[overlap.streamed_words == overlap.groupby("seed").streamed_words.transform("max")]
        known = own[own.measure == "gone words known"]
        at_end = known[known.streamed_words == known.groupby("seed").streamed_words.transform("max")]
        lines.append([name(half_life), spread(ends.value, 4), spread(100 * last.value), reached(overlap),
                      spread(100 * at_end.value, 0)])
    return table(["half-life", "loss at the end", "overlap at the end, %", "words until the overlap is one half",
                  "vanished words still known, %"], lines)


def reached(overlap, share=0.5):
    """Words until the ten nearest share this part with the model of the new text alone."""
    words = []
    for _, own in overlap.groupby("seed"):
        there = own[own.value >= share]
        if there.empty:
            return "–"
        words.append(there.streamed_words.min())
    return count(sum(words) / len(words))


def figures(folder):
    rows = read(folder)
    for measure, title, y in [
        ("overlap", "Words that change their meaning", "ten nearest shared with a model of the new text, per cent"),
        ("gone words known", "Words that disappear", "still in the vocabulary, per cent"),
        ("loss", "Loss on a new text", "mean loss of a pair"),
    ]:
        series = []
        for half_life, own in by_half_life(rows[rows.measure == measure]):
            values = own.groupby("streamed_words").value
            scale = 1 if measure == "loss" else 100
            errors = scale * values.std() if own.seed.nunique() > 1 else None
            label = "without a half-life" if not half_life else f"half-life {name(half_life)}"
            series.append((label, "o-", values.mean().index / 1e6, scale * values.mean(), errors))
        file = {"overlap": "swaps", "gone words known": "gone", "loss": "loss"}[measure]
        chart(folder / f"{file}.svg", title, "million words of the new text", y, series)
