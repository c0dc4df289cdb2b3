"""Finds phrases with gensim: prints them as JSON, with counts, scores, seconds and the memory of the counts."""

import argparse
import json
import time

from gensim.models.phrases import Phrases
from gensim.models.word2vec import LineSentence


def resident_bytes():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--min-count", type=int, required=True)
    parser.add_argument("--least", type=int, required=True, help="count of the phrases that are printed")
    options = parser.parse_args()
    before = resident_bytes()
    start = time.process_time()
    phrases = Phrases(
        LineSentence(options.text),
        min_count=options.min_count,
        threshold=options.threshold,
        scoring="npmi",
        max_vocab_size=1_000_000_000,
    )
    seconds = time.process_time() - start
    memory = resident_bytes() - before
    found = phrases.export_phrases()
    counts = {phrase: phrases.vocab[phrase] for phrase in found}
    print(
        json.dumps(
            {
                "entries": len(phrases.vocab),
                "bytes": memory,
                "cpu_seconds": seconds,
                "n_phrases": len(found),
                "phrases": {
                    phrase: {"count": counts[phrase], "score": score}
                    for phrase, score in found.items()
                    if counts[phrase] >= options.least
                },
            }
        )
    )


if __name__ == "__main__":
    main()
