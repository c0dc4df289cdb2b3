"""Section 5.3: seconds for an update, and for training again."""

import math

import pandas as pd

from drawing import chart
from tables import SETS, SETTINGS, or_dash, paper_measure, table

UPDATES = ["update, mini-batch", "update, mini-batch without replay", "update, incremental"]
AGAIN = ["again, mini-batch", "again, batch", "again, word2vec.c", "again, word2vec.c, 5 passes", "again, gensim"]
CLOCKS = ["seconds", "live_seconds"]
# What the paper reports at n₂ = n₁/10.
PAPER = {"again, batch": 10, "again, word2vec.c": 7.3}


class Times:
    def __init__(self, folder):
        self.rows = pd.read_csv(folder / "times.csv")

    def by_round(self, setting, percent, timed):
        """The median in each round. A round runs all programs in turn, so ratios are taken within a round."""
        program, threads, clock = timed
        rows = self.rows
        rows = rows[(rows.setting == setting) & (rows.percent == percent)]
        rows = rows[(rows.program == program) & (rows.threads == threads)]
        return rows.dropna(subset=clock).groupby("round")[clock].median()

    def seconds(self, *of):
        return self.by_round(*of).median()

    def ratio(self, setting, percent, again, update):
        """How many times as long `again` takes as `update`: the median over the rounds in which both ran."""
        return (self.by_round(setting, percent, again) / self.by_round(setting, percent, update)).median()

    def best_ratio(self, setting, percent, again, program, clock):
        """The ratio to an update on the same number of threads, or on as many as it was timed with."""
        ratios = (self.ratio(setting, percent, again, (program, threads, clock)) for threads in [again[1], 1, 2])
        return next((ratio for ratio in ratios if not math.isnan(ratio)), math.nan)

    def timed(self, setting):
        rows = self.rows[self.rows.setting == setting]
        return [(program, threads, clock) for threads in [2, 1] for program in UPDATES + AGAIN for clock in CLOCKS
                if rows[(rows.program == program) & (rows.threads == threads)][clock].notna().any()]

    def percents(self, setting):
        return sorted(self.rows.percent[self.rows.setting == setting].unique())


def name(timed):
    program, threads, clock = timed
    live = ", live" if clock == "live_seconds" else ""
    return f"{program}{live}, {threads} thread{'s' * (threads > 1)}"


def seconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times_faster(value):
    return f"{value:.1f} ×" if value < 10 else f"{value:.0f} ×"


def tables(folder):
    times, scores = Times(folder), paper_measure(pd.read_csv(folder / "scores.csv"))
    result = {"runs": runs(times)}
    for setting in SETTINGS:
        percents = times.percents(setting)
        if not percents:
            continue
        rows = [[name(timed), *(or_dash(seconds, times.seconds(setting, percent, timed)) for percent in percents)]
                for timed in times.timed(setting)]
        result[f"seconds-{setting}"] = table([f"seconds, {SETTINGS[setting]}", *(f"n₂ = {p} %" for p in percents)], rows)
        for percent in sorted({percents[0], percents[-1]}):
            result[f"ratios-{setting}-{percent}"] = ratios(times, setting, percent)
    result["paper"] = against_the_paper(times)
    for percent in sorted(scores.percent.unique()):
        result[f"scores-{percent}"] = quality(scores[scores.percent == percent], percent)
    return result


def runs(times):
    points = [(setting, percent) for setting in SETTINGS for percent in times.percents(setting)]
    timed = dict.fromkeys(timed for setting in SETTINGS for timed in times.timed(setting) if timed[2] == "seconds")
    rows = []
    for program, threads, _ in timed:
        row = [name((program, threads, "seconds"))]
        for setting, percent in points:
            of = times.rows[(times.rows.setting == setting) & (times.rows.percent == percent)]
            sizes = of[(of.program == program) & (of.threads == threads)].groupby("round").size()
            row.append(" + ".join(map(str, sizes)) or "–")
        rows.append(row)
    return table(["runs in each round", *(f"{percent} %, {SETTINGS[setting]}" for setting, percent in points)], rows)


def ratios(times, setting, percent):
    rows = []
    for again in times.timed(setting):
        if again[0] in AGAIN and not math.isnan(times.seconds(setting, percent, again)):
            rows.append([name(again), *(or_dash(times_faster, times.best_ratio(setting, percent, again, program, clock))
                                        for program in UPDATES for clock in CLOCKS)])
    head = ["mini-batch", "live", "without replay", "live", "incremental", "live"]
    return table([f"n₂ = {percent} %, {SETTINGS[setting]}", *head], rows)


def against_the_paper(times):
    """Algorithm 1 on one thread, beside the paper's ratios; and the cost of a word beside one of `batch`."""
    rows = []
    for again, paper in PAPER.items():
        cells = [or_dash(times_faster, times.ratio("small", 10, (again, 1, "seconds"), (UPDATES[2], 1, clock)))
                 for clock in CLOCKS]
        rows.append([f"times as fast as *{again}*", f"{paper} ×", *cells])
    for update in UPDATES:
        # One word of eleven is new.
        ratio = times.ratio("small", 10, ("again, batch", 1, "seconds"), (update, 1, "live_seconds"))
        rows.append([f"cost of a word of *{update}*, relative to one of *batch*", "–", "–",
                     or_dash(lambda ratio: f"{11 / ratio:.2f}", ratio)])
    return table(["one thread, n₂ = 10 %, our defaults", "paper", "incremental, as a program", "live"], rows)


def quality(scores, percent):
    def score(program, set_name):
        found = scores.score[(scores.program == program) & (scores.set == set_name)]
        return found.iloc[0] if len(found) else math.nan

    programs = [program for program in UPDATES + AGAIN if program in set(scores.program)]
    rows = [[program, *(or_dash("{:.1f}".format, score(program, name)) for name in SETS)] for program in programs]
    for update, again in [("update, mini-batch", "again, mini-batch"), ("update, incremental", "again, batch")]:
        rows.append([f"difference: {update} − {again}",
                     *(or_dash("{:+.1f}".format, score(update, name) - score(again, name)) for name in SETS)])
    return table([f"n₂ = {percent} %", *SETS], rows)


def figures(folder):
    times = Times(folder)
    # A single point makes no line, and more than seven lines would share colors: the table has the others.
    left_out = ["again, word2vec.c, 5 passes", "again, mini-batch"]
    shown = [timed for timed in times.timed("small")
             if (timed[1] == 2 or timed[0] in ["update, incremental", "again, batch"]) and timed[0] not in left_out
             and (timed[2] == "seconds" or timed[0] == "update, mini-batch")]
    n2 = times.rows.groupby("percent").n2_words.first() / 1e6
    series = []
    for number, timed in enumerate(shown):
        values = {percent: times.seconds("small", percent, timed) for percent in times.percents("small")}
        values = {n2[percent]: value for percent, value in values.items() if not math.isnan(value)}
        style = "--" if timed[2] == "live_seconds" else f"{'os^x'[number % 4]}-"
        series.append((name(timed), style, list(values), list(values.values()), None))
    chart(folder / "update-time.svg", "Time to learn n₂ more words, our defaults", "n₂, million words", "seconds", series,
          log_y=True)
