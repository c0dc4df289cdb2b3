"""Scores on old words while another text streams in."""

import pandas as pd
from scipy import stats

from drawing import chart
from tables import count, paper_measure, table

SETS = ["WS353", "MEN", "SimLex-999", "Google"]
CONTROL = "more of wiki-2006"


def read(folder):
    return paper_measure(pd.read_csv(folder / "forgetting.csv"))


def curves(rows):
    """Yields `(vocabulary, text, replays)` and its rows: the large vocabulary and the control first."""
    order = rows.assign(small=-rows.max_vocabulary, other=rows.text != CONTROL)
    for key, of_curve in order.groupby(["small", "other", "text", "replays"]):
        yield (-key[0], key[2], key[3]), of_curve


def name(text, replays):
    return f"{text} with{'' if replays else 'out'} replay"


def tables(folder):
    rows = read(folder)
    return {"scores": scores(rows), "changes": changes(rows)}


def scores(rows):
    lines = []
    for (vocabulary, text, replays), of_curve in curves(rows):
        last = of_curve.streamed_words.max()
        cells = []
        for set_name in SETS:
            begin, end = (of_curve[(of_curve.set == set_name) & (of_curve.streamed_words == words)] for words in [0, last])
            used = [count(look.used.mean()) for look in [begin, end]]
            questions = used[0] if used[0] == used[1] else " → ".join(used)
            cells.append(f"{begin.score.mean():.1f} → {end.score.mean():.1f} ({questions})")
        at_end = of_curve[of_curve.streamed_words == last]
        lost, test_words = (at_end.groupby("set")[column].mean().sum() for column in ["lost_words", "test_words"])
        lines.append([name(text, replays), count(vocabulary), count(last), *cells, f"{count(lost)} of {count(test_words)}",
                      count(at_end.evictions[at_end.set == SETS[0]].mean())])
    head = ["text that streams in", "vocabulary bound", "words streamed", *SETS, "test words lost", "words evicted"]
    return table(head, lines)


def changes(rows):
    """Each text, and the same number of words of the control (the nearest measured number)."""
    by_key = dict(curves(rows))
    lines = []
    for (vocabulary, text, replays), of_curve in by_key.items():
        lasts = {of_curve.streamed_words.max()}
        if text == CONTROL:
            others = [other.streamed_words.max() for key, other in by_key.items() if key[0] == vocabulary and key[1] != CONTROL]
            lasts |= {min(of_curve.streamed_words, key=lambda words: abs(words - last)) for last in others}
        for last in sorted(lasts):
            cells = [change(of_curve[of_curve.set == set_name], last) for set_name in SETS]
            lines.append([name(text, replays), count(vocabulary), count(last), *cells])
    return table(["change in points", "vocabulary bound", "words streamed", *SETS], lines)


def change(rows, last):
    """Points from the first look to a later one, seed by seed; bold if Student's test at 5 % calls it a fall.

    An asterisk marks scores over fewer questions than at first, which are not comparable.
    """
    looks = [rows[rows.streamed_words == words].set_index("seed") for words in [0, last]]
    points = (looks[1].score - looks[0].score).dropna()
    text = f"{points.mean():+.1f}"
    if looks[0].used.mean() != looks[1].used.mean():
        return text + "\\*"
    if len(points) > 1:
        limit = stats.t.ppf(0.975, len(points) - 1) * points.sem()
        return f"**{text}**" if points.mean() < -max(limit, 0.05) else text
    return text


def figures(folder):
    rows = read(folder)
    for set_name in ["MEN", "WS353", "Google"]:
        for vocabulary in rows.max_vocabulary.unique():
            chosen = [(key, of_curve) for key, of_curve in curves(rows) if key[0] == vocabulary]
            texts = list(dict.fromkeys(key[1] for key, _ in chosen))
            series = []
            for (_, text, replays), of_curve in chosen:
                by_words = of_curve[of_curve.set == set_name].groupby("streamed_words").score
                style = f"{'os^'[texts.index(text) % 3]}-" if replays else "--"
                errors = list(by_words.std().fillna(0)) if replays else None
                means = by_words.mean()
                series.append((name(text, replays), style, list(means.index / 1e6), list(means), errors))
            chart(folder / f"{set_name.lower()}-{vocabulary}.svg", f"{set_name}, at most {count(vocabulary)} words known",
                  "million words streamed", "score, per cent", series)
