"""Ten days of text: a word arrives, a word moves, and nothing is ever retrained from scratch.

Run it as a script (`python ten_days.py`), or cell by cell in an editor that supports `# %%`. It generates its own text, so
it needs neither a corpus nor the network; `--text FILE` splits a file of yours into ten days instead. matplotlib and gensim
are used if they are installed.
"""

# %% Options
from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

import numpy as np
import skipstream

parser = argparse.ArgumentParser(description="Ten days of text")
parser.add_argument("--words-a-day", type=int, default=100_000, help="words of generated text per day")
parser.add_argument("--text", help="text file to split into ten days instead, one sentence per line")
parser.add_argument("--plot", help="file to write the plot to")
parser.add_argument("--seed", type=int, default=1)
options, _ = parser.parse_known_args()  # A notebook has other arguments.

DAYS = range(1, 11)
Sentence = list[str]

# %% [markdown]
# ## The text
#
# Six topics with their own words, plus words that occur anywhere. Two things happen:
#
# - On day 4 a new word **arrives**: people start to write *drone* where they write about planes.
# - From day 4 to day 7 a word **moves**: a *stream* used to be water and becomes something to watch.

# %% A small world
TOPICS = {
    "water": ["river", "lake", "bank", "rain", "boat", "fish", "bridge", "flood", "shore", "swim"],
    "media": ["video", "music", "film", "channel", "watch", "song", "series", "episode", "screen", "play"],
    "kitchen": ["bread", "butter", "soup", "salt", "oven", "knife", "pan", "onion", "cheese", "taste"],
    "sky": ["plane", "pilot", "wing", "airport", "cloud", "wind", "flight", "tower", "engine", "fly"],
    "money": ["market", "price", "share", "trade", "stock", "profit", "loan", "tax", "dollar", "invest"],
    "garden": ["flower", "tree", "seed", "soil", "leaf", "grass", "root", "spade", "hedge", "bloom"],
}
ANYWHERE = ["the", "a", "of", "and", "to", "in", "is", "it", "was", "for", "on", "with", "as", "at", "by"]
ARRIVAL = 4


def made_up_words(number: int, chance: random.Random) -> list[str]:
    """Rare words and names, which every text is full of."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    return ["".join(chance.choices(syllables, k=3)) for _ in range(number)]


rare = {topic: made_up_words(60, random.Random(f"{options.seed} {topic}")) for topic in TOPICS}


def made_up_day(day: int) -> Iterator[Sentence]:
    """The sentences of a day, as a generator: like a stream, it can be read only once."""
    chance = random.Random(f"{options.seed} {day}")
    moved = min(max((day - 3) / 4, 0), 1)  # The share of streams that are watched.
    words = 0
    while words < options.words_a_day:
        topic = chance.choice(list(TOPICS))
        own = list(TOPICS[topic])
        if topic == "sky" and day >= ARRIVAL:
            own.append("drone")
        if topic == ("media" if chance.random() < moved else "water"):
            own.append("stream")
        kinds = chance.choices([ANYWHERE, own, rare[topic]], weights=[4, 5, 1], k=chance.randint(6, 14))
        sentence = [chance.choice(kind) for kind in kinds]
        words += len(sentence)
        yield sentence


def read_day(day: int) -> Iterator[Sentence]:
    """A tenth of the file's lines."""
    with open(options.text, encoding="utf-8", errors="replace") as file:
        lines = file.readlines()
    part = len(lines) / len(DAYS)
    for line in lines[round((day - 1) * part) : round(day * part)]:
        yield line.split()


text_of = read_day if options.text else made_up_day

# %% [markdown]
# ## Ten days
#
# The trainer learns each day once and discards the text. Every evening we take a snapshot of the vectors, which never
# changes while the trainer continues.

# %% Learn, day by day
trainer = skipstream.Trainer(dimensions=50, subsample=1e-2, seed=options.seed)
evenings: dict[int, skipstream.Embeddings] = {}
seconds: dict[int, float] = {}

for day in DAYS:
    start = time.perf_counter()
    trainer.train(text_of(day))
    seconds[day] = time.perf_counter() - start
    evenings[day] = trainer.embeddings()
    print(f"day {day:2}: {len(evenings[day]):6,} words are known, learned in {seconds[day]:.2f} s")

if not len(evenings[DAYS[-1]]):
    raise SystemExit("there are no words in this text")

# %% [markdown]
# ## A word arrives
#
# Nobody told the trainer about new words. In your own text, this is the most frequent word missing on the first day.

# %% The new word, and its neighbors each evening
first, last = evenings[DAYS[0]], evenings[DAYS[-1]]
arrived = next((word for word in last.index_to_key if word not in first), None)
company: dict[int, list[str]] = {}  # of the new word, by day
if arrived is not None:
    print(f"\n{arrived!r} was seen {last.get_vecattr(arrived, 'count'):,} times. Its nearest words:")
    for day, wv in evenings.items():
        company[day] = [word for word, _ in wv.most_similar(arrived, topn=5)] if arrived in wv else []
        print(f"day {day:2}: {', '.join(company[day]) or 'not there yet'}")

# %% [markdown]
# ## A word moves
#
# `diff` compares two snapshots. Words also move by chance, rare words more than frequent ones. Words that moved farther than
# chance explains come first.

# %% What changed since the third evening
drift = evenings[3].diff(last)
print(f"\n{drift}")
moved = drift.moved[0].word if drift.moved else last.index_to_key[0]

# %% The neighbors of the word that moved most
paths: dict[int, list[str]] = {}
print(f"\n{moved!r} moved most. Its nearest words:")
for day, wv in evenings.items():
    paths[day] = [word for word, _ in wv.most_similar(moved, topn=5)] if moved in wv else []
    print(f"day {day:2}: {', '.join(paths[day]) or 'not there yet'}")

# %% [markdown]
# ## A plot
#
# The similarity of *stream* to its old and its new neighbors, evening by evening.

# %% From old neighbors to new ones
old_company, new_company = paths[3] or paths[DAYS[-1]], paths[DAYS[-1]]


def closeness(wv: skipstream.Embeddings, word: str, others: list[str]) -> float:
    """The mean similarity of a word to others."""
    similarities = [wv.similarity(word, other) for other in others if word in wv and other in wv]
    return float(np.mean(similarities)) if similarities else 0.0


to_old = [closeness(wv, moved, old_company) for wv in evenings.values()]
to_new = [closeness(wv, moved, new_company) for wv in evenings.values()]
print(f"\nsimilarity of {moved!r} to its old and new company:")
for day, old, new in zip(DAYS, to_old, to_new):
    bars = ["#" * round(20 * max(value, 0)) for value in (old, new)]
    print(f"day {day:2}: {old:5.2f} {bars[0]:20}   {new:5.2f} {bars[1]}")

if options.plot:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5))
    left.plot(DAYS, to_old, marker="o", label=f"to {', '.join(old_company[:3])}, …")
    left.plot(DAYS, to_new, marker="o", label=f"to {', '.join(new_company[:3])}, …")
    left.set(xlabel="day", ylabel="similarity", title=f"{moved} moves")
    left.legend()
    last.plot([moved, *dict.fromkeys(old_company + new_company)], ax=right)
    figure.savefig(options.plot)
    print(f"the picture is in {options.plot}")

# %% [markdown]
# ## And with gensim?
#
# gensim can also add text to a model (`build_vocab(update=True)`), but its learning rate is designed to decay to zero over a
# corpus known in advance, so the usual approach is to retrain from scratch on all text. We do that every evening, with the
# same number of threads, training each word twice, like our trainer. Our time includes generating the text; gensim's does not.

# %% Retrain every evening
retrained_seconds: dict[int, float] = {}
agreement = None
try:
    from gensim.models import Word2Vec
except ImportError:
    print("\ngensim is not installed, so there is no comparison (pip install gensim)")
else:
    print()
    corpus: list[Sentence] = []
    for day in DAYS:
        corpus.extend(text_of(day))
        if not any(corpus):
            continue  # gensim accepts no text without words.
        start = time.perf_counter()
        retrained = Word2Vec(
            corpus,
            sg=1,
            vector_size=50,
            window=5,
            negative=5,
            sample=1e-2,
            epochs=2,
            min_count=1,
            workers=trainer.stats().threads,
        )
        retrained_seconds[day] = time.perf_counter() - start
        print(f"day {day:2}: learned {seconds[day]:6.2f} s   trained again {retrained_seconds[day]:6.2f} s")
    learning, retraining = sum(seconds.values()), sum(retrained_seconds.values())
    print(f"together: {learning:.1f} s and {retraining:.1f} s, {retraining / learning:.0f} times as long")

    # Do they agree on which words are similar? Compare the similarities of all pairs of frequent words.
    probes = [word for word in last.index_to_key[:100] if word not in (arrived, moved)]
    pairs = np.triu_indices(len(probes), k=1)
    ours, theirs = (
        np.array([wv.similarity(probes[row], probes[column]) for row, column in zip(*pairs)])
        for wv in (last, retrained.wv)
    )
    agreement = float(np.corrcoef(ours, theirs)[0, 1])
    print(f"the similarities of {len(probes)} frequent words, by both, have a correlation of {agreement:.2f}")
    if moved in retrained.wv:
        nearest = [word for word, _ in retrained.wv.most_similar(moved, topn=5)]
        print(f"{moved!r} to gensim, which learned all days at once: {', '.join(nearest)}")
        print(f"{moved!r} to skipstream, on the last evening:        {', '.join(paths[10])}")

# %% [markdown]
# ## Tomorrow
#
# The file holds the whole state. Load it to continue as if training had never stopped.

# %% Save, load, continue
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "ten_days.safetensors"
    trainer.save(path)
    tomorrow = skipstream.Trainer.load(path)
tomorrow.train([["what", "will", "a", "drone", "stream", "tomorrow"]])
print(f"\n{tomorrow.stats().words:,} words so far")
