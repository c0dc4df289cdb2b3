"""Training in pieces: the same file at boundaries, and scores if a piece ends anywhere."""

import pandas as pd
from scipy import stats

from drawing import bars
from tables import SETS, count, paper_measure, spread, table

WAY = ["strategy", "batch_words", "cut", "pieces"]
CUTS = {"sentences": "at sentences", "batches": "at batches", "anywhere": "anywhere"}


def read(folder):
    rows = pd.read_csv(folder / "pieces.csv")
    rows["order"] = rows.cut == "anywhere"
    return rows.sort_values(["strategy", "batch_words", "order", "pieces", "seed"], kind="stable")


def tables(folder):
    rows = read(folder)
    return {"models": models(rows), "differences": differences(rows)}


def models(rows):
    whole = rows[rows.pieces == 1].drop_duplicates(["strategy", "batch_words", "seed"])
    whole = {(row.strategy, str(row.batch_words), row.seed): row.model_blake3 for row in whole.itertuples()}
    lines = []
    for (strategy, batch, cut, n_pieces), of_way in rows.groupby(WAY, dropna=False, sort=False):
        files = of_way.drop_duplicates("seed")
        same = [whole.get((strategy, str(batch), row.seed)) == row.model_blake3 for row in files.itertuples()]
        verdict = "–" if n_pieces == 1 else "yes" if all(same) else "no" if not any(same) else f"{sum(same)} of {len(same)}"
        lines.append([strategy, "–" if pd.isna(batch) else count(batch), "not at all" if n_pieces == 1 else CUTS[cut],
                      n_pieces, verdict, *(spread(score) for score in scores(of_way))])
    return table(["strategy", "words per batch", "cut", "pieces", "same file", *SETS], lines)


def scores(rows):
    rows = paper_measure(rows)
    return [rows.score[rows.set == name].dropna() for name in SETS]


def differences(rows):
    """Bold where Student's test at 5 % finds more than seeds explain."""
    lines = []
    for (strategy, batch, n_pieces), of_way in rows[rows.cut == "anywhere"].groupby(WAY[:2] + ["pieces"], sort=False):
        whole = rows[(rows.strategy == strategy) & (rows.batch_words == batch) & (rows.pieces == 1)]
        cells = []
        for one, many in zip(scores(whole), scores(of_way)):
            if one.empty or many.empty:
                cells.append("–")
                continue
            difference = many.mean() - one.mean()
            text = f"{difference:+.1f}"
            if len(one) > 1 and len(many) > 1:
                limit = stats.t.ppf(0.975, len(one) + len(many) - 2) * (one.sem() ** 2 + many.sem() ** 2) ** 0.5
                text = f"**{text}**" if abs(difference) > max(limit, 0.05) else text
            cells.append(text)
        lines.append([f"{n_pieces} pieces − 1 piece", *cells])
    return table(["difference, cut anywhere", *SETS], lines)


def figures(folder):
    rows = read(folder)
    rows = rows[rows.batch_words == rows.batch_words.max()]
    series = []
    for n_pieces, of_way in rows[(rows.pieces == 1) | (rows.cut == "anywhere")].groupby("pieces"):
        label = "one piece" if n_pieces == 1 else f"{n_pieces} pieces, cut anywhere"
        cells = scores(of_way)
        series.append((label, [cell.mean() for cell in cells], [cell.std() if len(cell) > 1 else 0 for cell in cells]))
    bars(folder / "pieces.svg", "mini-batch in one piece and in many", "score, per cent", SETS, series)
