"""Incremental against batch training on texts of growing size, and the causes of the gap. Analogies are scored with
3CosMul, as in the paper."""

import math

import pandas as pd

from drawing import chart
from tables import count, paper_measure, spread, table

SETS = ["WS353", "MEN", "SimLex-999", "Google"]


def read(folder, part):
    rows = paper_measure(pd.read_csv(folder / "scores.csv"))
    return rows[rows.part == part]


def tables(folder):
    gap, causes = read(folder, "gap"), read(folder, "causes")
    result = {}
    if not gap.empty:
        result["gap"] = gaps(gap)
    if not causes.empty:
        result["causes"] = differences(causes)
    return result


def gaps(rows):
    lines = []
    for (text, words), of_text in rows.groupby(["text", "words"], sort=False):
        for method, of_method in of_text.groupby("method", sort=False):
            cells = [spread(of_method.score[of_method.set == name]) for name in SETS]
            lines.append([text.split(",")[0], count(words), named(method), of_method.seed.nunique(), *cells])
    return table(["text", "words", "method", "seeds", *SETS], lines)


def differences(rows):
    """Scores of batch training, and the difference that each cause makes. Bold where it is more than two standard errors,
    from the variance between seeds, pooled over the methods."""
    batch = rows[rows.method == "batch"]
    lines = [["batch", *(spread(batch.score[batch.set == name]) for name in SETS)]]
    for method, of_method in rows[rows.method != "batch"].groupby("method", sort=False):
        cells = []
        for name in SETS:
            of_set = rows[rows.set == name]
            variance = of_set.groupby("method").score.var().mean()
            points = of_method.score[of_method.set == name].mean() - batch.score[batch.set == name].mean()
            error = math.sqrt(variance * (1 / of_method.seed.nunique() + 1 / batch.seed.nunique()))
            text = f"{points:+.1f}" if math.isnan(error) else f"{points:+.1f} ± {error:.1f}"
            cells.append(f"**{text}**" if abs(points) > 2 * error else text)
        lines.append([f"{method} − batch", *cells])
    return table(["method", *SETS], lines)


def named(method):
    """With thousands separated."""
    return " ".join(count(int(word)) if word.isdigit() else word for word in method.split(" "))


def figures(folder):
    rows = read(folder, "gap")
    if rows.empty:
        return
    means = rows.groupby(["set", "method", "words"], sort=False).score.mean()
    for name in ["WS353", "MEN"]:
        batch = means[name]["batch"]
        series = []
        for method in rows.method.unique():
            if method == "batch":
                continue
            scores = means[name][method]
            sizes = sorted(size for size in scores.index if size in batch.index)
            series.append((named(method), "o-", sizes, [scores[size] - batch[size] for size in sizes], None))
        chart(folder / f"{name.lower()}.svg", f"{name}: difference to batch training", "words of text", "points", series,
              log_x=True)
