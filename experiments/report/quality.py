"""Section 5.2: scores of every method on the five test sets."""

import math

import pandas as pd

from drawing import bars
from tables import SETS, SETTINGS, count, or_dash, paper_measure, spread, table

OURS = ["incremental", "incremental, all words", "incremental, 60 % vocabulary", "incremental, 40 % vocabulary",
        "mini-batch", "mini-batch with replay", "batch", "word2vec (ours)"]
OTHERS = ["word2vec.c, 1 pass", "word2vec.c, 1 pass at 0.1", "word2vec.c, 5 passes", "gensim, 1 pass",
          "gensim, 1 pass at 0.1", "gensim, 5 passes", "fastText, 1 pass", "fastText, 5 passes"]
FIVE_PASSES = [method for method in OTHERS if "5 passes" in method]
# The methods of the paper's figure, and one pass of ours beside one and five of the others.
PAPER = ["incremental", *OURS[2:5], "batch", "word2vec (ours)", "word2vec.c, 1 pass"]
PASSES = ["mini-batch", "mini-batch with replay", *OTHERS]
# Shares of the vocabulary that are scored: what every method with the whole bound knows, and what all methods know.
SHARED, FREQUENT = 0.6, 0.3


class Scores:
    def __init__(self, folder, share):
        rows = pd.read_csv(folder / "scores.csv")
        self.rows = rows[rows.scored_share == share]

    def methods(self, setting):
        found = set(self.rows.method[self.rows.setting == setting])
        return [method for method in OURS + OTHERS if method in found]

    def of(self, setting, method, set_name=None):
        rows = self.rows[(self.rows.setting == setting) & (self.rows.method == method)]
        return rows if set_name is None else rows[rows.set == set_name]

    def vectors(self, method):
        """Target plus context where the program has both, as in the paper; otherwise targets."""
        return "sum" if (self.rows.vectors[self.rows.method == method] == "sum").any() else "target"

    def scores(self, setting, method, set_name, vectors=None, measure=None):
        rows = self.of(setting, method, set_name)
        rows = rows[rows.vectors == (vectors or self.vectors(method))]
        return (rows[rows.measure == measure] if measure else paper_measure(rows)).score.dropna()

    def variance(self, setting, method, set_name, vectors):
        """From seed to seed; pooled over our methods for one of ours, as three seeds say little."""
        alike = OURS if method in OURS else [method]
        samples = [self.scores(setting, method, set_name, vectors) for method in alike]
        samples = [scores for scores in samples if len(scores) > 1]
        degrees = sum(len(scores) - 1 for scores in samples)
        return sum(scores.var() * (len(scores) - 1) for scores in samples) / degrees if degrees else math.nan

    def difference(self, setting, method, other, set_name):
        """Points by which a method is better, and the standard error. Both give target plus context, or both targets."""
        vectors = "sum" if {self.vectors(method), self.vectors(other)} == {"sum"} else "target"
        ours, theirs = (self.scores(setting, name, set_name, vectors) for name in [method, other])
        if ours.empty or theirs.empty:
            return math.nan, math.nan
        error = sum(self.variance(setting, name, set_name, vectors) / len(scores)
                    for name, scores in [(method, ours), (other, theirs)])
        return ours.mean() - theirs.mean(), math.sqrt(error)

    def differences(self, label, setting, method, other):
        cells = [difference_cell(*self.difference(setting, method, other, name)) for name in SETS]
        return [f"{label}, {SETTINGS[setting]}", *cells]


def difference_cell(mean, error):
    if math.isnan(mean):
        return "–"
    if math.isnan(error):
        return f"{mean:+.1f}"
    text = f"{mean:+.1f} ± {error:.1f}"
    return f"**{text}**" if abs(mean) > 2 * error else text


def tables(folder):
    scores, frequent = Scores(folder, SHARED), Scores(folder, FREQUENT)
    settings = [setting for setting in SETTINGS if scores.methods(setting)]
    result = {}
    for setting in settings:
        result[f"scores-{setting}"] = all_scores(scores, setting)
        result[f"coverage-{setting}"] = coverage(scores, setting)
    methods = ["incremental", "incremental, all words", "mini-batch", "mini-batch with replay", "word2vec (ours)"]
    result["against-batch"] = table(["difference", *SETS], [
        scores.differences(f"{method} − batch", setting, method, "batch") for setting in settings for method in methods])
    result["vocabulary"] = smaller_vocabulary(scores, frequent, settings)
    result["five-passes"] = table(["difference", *SETS], [
        scores.differences(f"{method} − {other}", setting, method, other)
        for setting in settings for other in FIVE_PASSES for method in ["mini-batch", "mini-batch with replay"]])
    result["targets"] = table(["method", *SETS], [
        [f"{method}, {SETTINGS[setting]}", *(spread(scores.scores(setting, method, name, "target")) for name in SETS)]
        for setting in settings for method in scores.methods(setting)])
    return result


def all_scores(scores, setting):
    rows = []
    for method in scores.methods(setting):
        row = [method, count(scores.of(setting, method).vocabulary.mean())]
        row += [spread(scores.scores(setting, method, name)) for name in SETS]
        row += [spread(scores.scores(setting, method, name, measure="3CosAdd")) for name in SETS[3:]]
        rows.append(row)
    return table(["method", "words known", *SETS, *(f"{name}, 3CosAdd" for name in SETS[3:])], rows)


def coverage(scores, setting):
    groups = {}
    for method in scores.methods(setting):
        rows = [scores.of(setting, method, name) for name in SETS]
        cells = tuple(f"{count(of_set.used.mean())} of {count(of_set.total.iloc[0])}" for of_set in rows)
        groups.setdefault(cells, []).append(method)
    head = [f"questions with known words, {SETTINGS[setting]}", *SETS]
    return table(head, [["; ".join(methods), *cells] for cells, methods in groups.items()])


def smaller_vocabulary(scores, frequent, settings):
    rows = []
    for setting in settings:
        for method in OURS[2:4]:
            rows.append(frequent.differences(f"{method} − incremental", setting, method, "incremental"))
            used = [[scores.of(setting, name, set_name).used.mean() for set_name in SETS]
                    for name in ["incremental", method]]
            rows.append(["questions lost", *(or_dash(lambda all_, some: f"{100 * (all_ - some) / all_:.1f} %", *pair)
                                             for pair in zip(*used))])
    return table(["difference", *SETS], rows)


def figures(folder):
    scores = Scores(folder, SHARED)
    for setting, called in SETTINGS.items():
        for prefix, methods in [("", PAPER), ("passes-", PASSES)]:
            methods = [method for method in methods if method in scores.methods(setting)]
            for kind, sets, title, y in [("pairs", SETS[:3], "word pairs", "Spearman's correlation, per cent"),
                                         ("analogies", SETS[3:], "analogies", "accuracy (3CosMul), per cent")]:
                if not methods:
                    continue
                cells = [[scores.scores(setting, method, name) for name in sets] for method in methods]
                series = [(method, [cell.mean() for cell in row], [cell.std() if len(cell) > 1 else 0 for cell in row])
                          for method, row in zip(methods, cells)]
                title_ = f"One pass and five, {title}" if prefix else title.capitalize()
                bars(folder / f"{prefix}{kind}-{setting}.svg", f"{title_}, {called}", y, sets, series)
