"""Settings against time, next to five passes of other programs. Analogies are scored with 3CosAdd."""

import math

import pandas as pd

from drawing import chart
from tables import SETS, spread, table

BEST = "replays=4 learning_rate=0.15 replay_words=10000000 replay_start=late"
PROGRAMS = {"skipstream": "skipstream", "word2vec": "word2vec.c", "gensim": "gensim", "fasttext": "fastText"}


def read(folder):
    rows = pd.read_csv(folder / "scores.csv", keep_default_na=False, na_values=[""])
    rows["settings"] = rows.settings.fillna("")
    rows["name"] = [f"{PROGRAMS[row.program]} {row.settings}".strip() for row in rows.itertuples()]
    return rows[rows.measure != "3CosMul"]


def learners(rows):
    """Rows of each program with its settings, in the order of the plan."""
    return rows.groupby("name", sort=False)


def tables(folder):
    rows = read(folder)
    result = {}
    for text, of_text in rows.groupby("text", sort=False):
        result[f"scores-{place(text)}"] = scores(of_text, text)
        result[f"goal-{place(text)}"] = goal(of_text, text)
    return {key: value for key, value in result.items() if value}


def place(text):
    return text.replace(", ", "-").replace(" ", "-")


def scores(rows, text):
    lines = []
    for name, of_learner in learners(rows):
        for vectors, of_vectors in of_learner.groupby("vectors", sort=False):
            cpu = of_vectors.drop_duplicates("seed").cpu_seconds
            cells = [spread(of_vectors.score[of_vectors.set == set_name]) for set_name in SETS]
            lines.append([f"{name}, {vectors}", of_vectors.seed.nunique(), f"{cpu.median():.0f}", *cells])
    return table([text, "seeds", "CPU seconds", *SETS], lines)


def goal(rows, text):
    """Our best settings minus the best rate of every other program. Bold where we are behind by more than two standard
    errors."""
    ours = rows[(rows.program == "skipstream") & (rows.settings == BEST)]
    lines = []
    for program in PROGRAMS:
        peer = rows[(rows.program == program) & (rows.vectors == "target")]
        if program == "skipstream" or peer.empty or ours.empty:
            continue
        peer = peer[peer.name == peer.groupby("name").score.mean().idxmax()]
        for vectors, of_vectors in ours.groupby("vectors", sort=False):
            cells = [difference(of_vectors, peer, set_name) for set_name in SETS]
            lines.append([f"{vectors} − {peer.name.iloc[0]}", *cells])
    return table([f"`quality` best, {text}", *SETS], lines) if lines else None


def difference(ours, theirs, set_name):
    """With its standard error. A program with one seed is assumed to vary as ours does."""
    one, other = (rows.score[rows.set == set_name] for rows in [ours, theirs])
    points = one.mean() - other.mean()
    if len(one) < 2:
        return f"{points:+.1f}"
    error = math.sqrt(one.var() / len(one) + (other if len(other) > 1 else one).var() / len(other))
    text = f"{points:+.1f} ± {error:.1f}"
    return f"**{text}**" if points < -2 * error else text


def figures(folder):
    rows = read(folder)
    ours = rows[rows.program == "skipstream"]
    for text, of_text in ours.groupby("text", sort=False):
        series = []
        for vectors, of_vectors in of_text.groupby("vectors", sort=False):
            points = [(of.drop_duplicates("seed").cpu_seconds.median(), of.groupby("set").score.mean().mean())
                      for _, of in learners(of_vectors)]
            xs, ys = zip(*sorted(points))
            series.append((vectors, "o", xs, ys, None))
        chart(folder / f"scores-{place(text)}.svg", f"Quality against time, {text}", "CPU seconds",
              "mean of the five sets, per cent", series)
