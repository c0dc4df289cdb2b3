"""Section 5.1: the first and second moments of ΔL, and what theory says about them."""

import math

import numpy as np
import pandas as pd

from drawing import chart
from tables import count, estimate, or_dash, power, ratio, scientific, table

KINDS = {
    "independent": "independent words",
    "sentences": "sentences",
    "paragraphs": "paragraphs",
    "consecutive": "text in its order",
}
PIECES = ["sentences", "paragraphs"]
BATCHES = [1, 10, 100, 1000]
# 2ck for a window of 5 and 5 negatives.
PAIRS = 50.0
# With fewer datasets, a standard error is itself too uncertain to judge by.
ENOUGH = 20


class Results:
    def __init__(self, folder):
        keys = ["theta", "kind", "exponent", "batch", "n"]
        moments = pd.read_csv(folder / "moments.csv").rename(columns={"first": "plain", "first_error": "plain_error"})
        theory = pd.read_csv(folder / "theory.csv").rename(
            columns={"first": "theory", "second": "theory_second", "linear": "theory_linear"})
        self.theta = moments.theta[0]
        self.all = moments.merge(theory, on=keys)
        # The mean of ΔL with the noise of its linear part replaced by the known expectation.
        self.all["first"] = self.all["rest"] + self.all.theory_linear
        self.all["first_error"] = self.all.rest_error
        self.constants = pd.read_csv(folder / "constants.csv")

    def cases(self, kind, exponent=1.0, batch=1):
        """The cases of the main θ in which ΔL is not zero by definition, smallest datasets first."""
        rows = self.all
        rows = rows[(rows.theta == self.theta) & (rows.kind == kind) & (rows.exponent == exponent)]
        return rows[(rows.batch == batch) & (rows.n > batch)].sort_values("n")

    def judged(self, *of):
        cases = self.cases(*of)
        return cases[cases.datasets >= ENOUGH]

    def thetas(self, exponent):
        """Independent words with every θ, at the one size that all were measured at."""
        rows = self.all
        n = rows.n[rows.theta != self.theta].min()
        rows = rows[(rows.kind == "independent") & (rows.batch == 1) & (rows.n == n) & (rows.exponent == exponent)]
        return rows.sort_values("theta")

    def constant(self, kind, theta=None):
        rows = self.constants
        of = (rows.kind == kind) & (rows.exponent == 1.0) & (rows.theta == (theta or self.theta))
        return rows[of].iloc[0] if of.any() else None


def log_fit(x, y, error):
    """A line through logarithms, weighted by precision: slope, its error, and the factor if the slope is one."""
    x, y, error = np.array(x), np.array(y), np.array(error)
    x, y, error = x[y > 0], y[y > 0], error[y > 0]
    weight = (y / error) ** 2
    x, y = np.log(x), np.log(y)
    mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
    variance = np.average((x - mean_x) ** 2, weights=weight)
    slope = np.average((x - mean_x) * (y - mean_y), weights=weight) / variance
    return slope, 1 / math.sqrt(weight.sum() * variance), math.exp(mean_y - mean_x)


def rate(n):
    return np.log(n) / n


def agreement(label, against, cases, value, theory):
    """How estimates and a theory without free parameters agree, over all sizes."""
    cases = cases[cases[theory].notna()]
    if cases.empty:
        return [label, against, 0, "–", "–"]
    ratios, errors = cases[value] / cases[theory], (cases[f"{value}_error"] / cases[theory]).abs()
    weights = errors**-2
    farthest = ((ratios - 1) / errors).abs().max()
    return [label, against, len(cases), ratio(np.average(ratios, weights=weights), weights.sum() ** -0.5),
            f"{farthest:.1f}"]


def tables(folder):
    results = Results(folder)
    return {
        "datasets": datasets(results),
        "agreement": agreements(results),
        "first-moment": first_moment(results),
        "pieces": pieces(results),
        "orders": orders(results),
        "smoothed": smoothed(results),
        "mini-batches": mini_batches(results),
        "second-moment": second_moment(results),
        "slopes": slopes(results),
        "thetas": thetas(results),
    }


def datasets(results):
    rows = [[power(case.n), count(case.datasets), or_dash(lambda v: scientific(math.sqrt(v) / 100), case.theory_second),
             scientific(case.theorem)] for case in results.cases("independent").itertuples()]
    return table(["n", "datasets of each kind", "standard error of a plain mean of 10,000", "Theorem 1"], rows)


def agreements(results):
    rows = [agreement(KINDS[kind], "Theorem 1", results.judged(kind), "first", "theorem")
            for kind in ["independent", "sentences"]]
    rows += [agreement(KINDS[kind], "theory for pieces", results.judged(kind), "first", "theory") for kind in PIECES]
    rows += [agreement(f"{KINDS[kind]}, exponent 0.75", "theory, all orders", results.judged(kind, 0.75), "first", "theory")
             for kind in ["independent", *PIECES]]
    batched = pd.concat([results.judged("independent", 1.0, batch) for batch in BATCHES[1:]])
    rows.append(agreement("mini-batches, M > 1", "appendix D", batched, "first", "theorem"))
    rows.append(agreement("second moment, independent words", "linear part", results.judged("independent"), "second",
                          "theory_second"))
    rows.append(agreement("independent words, every θ", "Theorem 1", results.thetas(1.0), "first", "theorem"))
    rows.append(agreement("the same, exponent 0.75", "theory, all orders", results.thetas(0.75), "first", "theory"))
    head = ["measured", "theory", "estimates", "mean ratio to theory", "farthest, in standard errors"]
    return table(head, rows)


def first_moment(results):
    rows = [[KINDS[kind], power(case.n), estimate(case.plain, case.plain_error), estimate(case.first, case.first_error),
             scientific(case.theorem), over(case, "theorem"), distance(case, "theorem")]
            for kind in ["independent", "sentences"] for case in results.cases(kind).itertuples()]
    return table(["datasets of", "n", "plain mean", "first moment", "Theorem 1", "ratio", "z"], rows)


def over(case, theory, value="first"):
    known = getattr(case, theory)
    return or_dash(lambda known: ratio(getattr(case, value) / known, abs(getattr(case, f"{value}_error") / known)), known)


def distance(case, theory):
    return or_dash(lambda known: f"{(case.first - known) / case.first_error:+.1f}", getattr(case, theory))


def pieces(results):
    rows = [[KINDS[kind], f"{row.mean_length:.1f}", *(f"{row[name]:+.4f}" for name in ["covariance", "earlier", "later", "cut"])]
            for kind in ["independent", *PIECES] if (row := results.constant(kind)) is not None]
    return table(["datasets of", "words per piece", "Σρψ", "B", "B′", "K"], rows)


def orders(results):
    rows = [[KINDS[kind], power(case.n), estimate(case.first, case.first_error), over(case, "theorem"),
             over(case, "theory"), distance(case, "theory")]
            for kind in [*PIECES, "consecutive"] for case in results.cases(kind).itertuples()]
    return table(["datasets of", "n", "first moment", "ratio to Theorem 1", "ratio to theory for pieces", "z"], rows)


def smoothed(results):
    rows = [[KINDS[kind], power(case.n), estimate(case.plain, case.plain_error), estimate(case.first, case.first_error),
             scientific(case.theorem), scientific(case.second_order), or_dash(scientific, case.theory),
             over(case, "theory"), distance(case, "theory")]
            for kind in KINDS for case in results.cases(kind, 0.75).itertuples()]
    head = ["datasets of", "n", "plain mean", "first moment", "appendix C", "second order", "all orders", "ratio", "z"]
    return table(head, rows)


def mini_batches(results):
    sizes = list(results.cases("independent").n)
    rows = []
    for batch in BATCHES:
        cases = {case.n: over(case, "theorem") for case in results.cases("independent", 1.0, batch).itertuples()}
        rows.append([count(batch), *(cases.get(n, "ΔL = 0") for n in sizes)])
    single, largest = results.judged("independent"), results.judged("independent", 1.0, BATCHES[-1])
    both = single.merge(largest, on="n")
    for label, name in [("M = 1,000 / M = 1, measured", "first"), ("M = 1,000 / M = 1, appendix D", "theorem")]:
        shares = dict(zip(both.n, both[f"{name}_y"] / both[f"{name}_x"]))
        rows.append([label, *(or_dash(lambda share: f"{share:.2f}", shares.get(n, math.nan)) for n in sizes)])
    return table(["M", *(f"n = {power(n)}" for n in sizes)], rows)


def second_moment(results):
    rows = [[KINDS[kind], f"{exponent:g}", power(case.n), estimate(case.second, case.second_error),
             or_dash(scientific, case.theory_second), over(case, "theory_second", "second")]
            for kind in KINDS for exponent in [1.0, 0.75] for case in results.cases(kind, exponent).itertuples()]
    return table(["datasets of", "exponent", "n", "second moment", "theory", "ratio"], rows)


def slopes(results):
    rows = []
    for kind, exponent in [("independent", 1.0), ("consecutive", 1.0), ("independent", 0.75)]:
        cases = results.judged(kind, exponent)
        measured = log_fit(rate(cases.n), cases["first"], cases.first_error)
        known = cases[cases.theory.notna()]
        theory = "–"
        if len(known) > 1:
            error = (known.first_error / known["first"] * known.theory).abs()
            theory = f"{log_fit(rate(known.n), known.theory, error)[0]:.3f}"
        rows.append([f"first moment, {KINDS[kind]}, exponent {exponent:g}", "log(n)/n", ratio(*measured[:2]), theory])
    for kind in KINDS:
        cases = results.judged(kind)
        measured = log_fit(cases.n, cases["second"], cases.second_error)
        rows.append([f"second moment, {KINDS[kind]}, exponent 1", "n", ratio(*measured[:2]), "−1"])
    sizes = results.judged("independent").n
    first, last = math.log(sizes.min()), math.log(sizes.max())
    rows.append(["log(n)/n, the bound of Theorem 3", "n", f"{(math.log(last / first) - (last - first)) / (last - first):.2f}", "–"])
    return table(["moment", "slope against the logarithm of", "measured", "theory"], rows)


def thetas(results):
    rows = []
    for one, smooth in zip(results.thetas(1.0).itertuples(), results.thetas(0.75).itertuples()):
        constant = results.constant("independent", one.theta).covariance
        rows.append([one.theta, f"{constant:+.4f}", estimate(one.first, one.first_error), over(one, "theorem"),
                     estimate(smooth.first, smooth.first_error), over(smooth, "theory")])
    return table(["seed of θ", "Σρψ", "first moment, exponent 1", "ratio to Theorem 1", "first moment, exponent 0.75",
                  "ratio to theory, all orders"], rows)


def figures(folder):
    results = Results(folder)
    for exponent in [1.0, 0.75]:
        first_figure(results, exponent, folder)
        second_figure(results, exponent, folder)
    batch_figure(results, folder)
    order_figures(results, folder)


def points(label, style, cases, value, divisor=1.0, error=True):
    errors = (cases[f"{value}_error"] / divisor).abs() if error else None
    return label, style, list(cases.n), list(cases[value] / divisor), None if errors is None else list(errors)


def fitted(cases, value, sign=1.0):
    judged = cases[cases.datasets >= ENOUGH]
    factor = log_fit(rate(judged.n), sign * judged[value], judged[f"{value}_error"])[2]
    ns = np.geomspace(cases.n.min(), cases.n.max(), 41)
    return "a log(n)/n, sentences", "-", list(ns), list(factor * rate(ns)), None


def log_chart(folder, name, title, y, series):
    series = [one for one in series if one[2]]
    chart(folder / f"{name}.svg", title, "n, words per dataset", y, series, log_x=True, log_y=True)


def first_figure(results, exponent, folder):
    independent, sentences = results.cases("independent", exponent), results.cases("sentences", exponent)
    # A logarithmic axis cannot show a negative first moment.
    sign = math.copysign(1, independent.theory.iloc[-1])
    series = [points("sentences", "x", sentences, "first", sign), points("independent words", "s", independent, "first", sign),
              points("Theorem 1" if exponent == 1 else "theory, all orders", "o", independent, "theory", sign, False)]
    if exponent != 1:
        series.append(points("appendix C, first order", "--", independent, "theorem", sign, False))
    series.append(fitted(sentences, "first", sign))
    log_chart(folder, f"first-{exponent:g}", f"First moment, exponent {exponent:g}", "−E[ΔL]" if sign < 0 else "E[ΔL]", series)


def second_figure(results, exponent, folder):
    independent, sentences = results.cases("independent", exponent), results.cases("sentences", exponent)
    series = [points("sentences", "x", sentences, "second"), points("independent words", "s", independent, "second"),
              points("theory, sentences", "o", sentences[sentences.theory_second.notna()], "theory_second", 1.0, False),
              fitted(sentences, "second")]
    log_chart(folder, f"second-{exponent:g}", f"Second moment, exponent {exponent:g}", "E[ΔL²]", series)


def batch_figure(results, folder):
    series, theory = [], []
    for batch, marker in zip(BATCHES, "xs^o"):
        cases = results.cases("independent", 1.0, batch)
        series.append(points(f"M = {batch}", f"{marker}-", cases, "first", np.sign(cases.theorem)))
        theory.append(cases)
    theory = pd.concat(theory)
    series.append(points("appendix D", "o", theory, "theorem", np.sign(theory.theorem), False))
    log_chart(folder, "batches", "First moment with mini-batches of M words, exponent 1", "|E[ΔL]|", series)


def order_figures(results, folder):
    markers = dict(zip(KINDS, "sx^o"))
    cases = {kind: results.cases(kind) for kind in KINDS}
    series = [points(KINDS[kind], markers[kind], cases[kind], "first", cases[kind].theorem) for kind in KINDS]
    series += [points(f"{KINDS[kind]}, theory", "--", cases[kind], "theory", cases[kind].theorem, False) for kind in PIECES]
    log_chart(folder, "orders", "First moment relative to Theorem 1, exponent 1", "ratio", series)
    variance = results.constant("independent").variance
    series = [points(KINDS[kind], f"{markers[kind]}-", cases[kind], "second", PAIRS**2 * variance / cases[kind].n)
              for kind in KINDS]
    log_chart(folder, "orders-second", "Second moment relative to that of independent words, exponent 1",
              "n E[ΔL²] / ((2ck)² Var h)", series)
