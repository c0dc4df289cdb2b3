"""Items as words: which product comes next in the sessions of a shop?

A session is a sentence, and a product is a word. The shop is invented, so that everyone can run this, and so that we know
the truth: each product has a few others that go with it. Every day brings new products. For each session of the next day,
the ten nearest products of the last but one are compared with the last.

skipstream learns each day once, when it comes. gensim is trained from scratch on all days so far, with the same settings.

    python shop.py --days 20 --sessions 4000
"""

import argparse
import math
import os
import random
import time
from itertools import accumulate
from typing import Any, NamedTuple

import gensim
import skipstream

DIMENSIONS = 64
NEAREST = 10


class Shop:
    """Products in departments, some popular and most not. Each has partners, with which it is often seen."""

    def __init__(self, products: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.n_departments = max(5, products // 60)
        self.departments: list[list[int]] = [[] for _ in range(self.n_departments)]
        self.department_of: list[int] = []
        self.partners: list[list[int]] = []
        self.popularity: list[float] = []
        for _ in range(products):
            self.add()

    def add(self) -> None:
        """A new product, with partners among those of its department that are there already."""
        product = len(self.partners)
        department = self.random.randrange(self.n_departments)
        others = self.departments[department]
        partners = self.random.sample(others, min(4, len(others)))
        self.partners.append(partners)
        for partner in partners:
            self.partners[partner].append(product)
        others.append(product)
        self.department_of.append(department)
        self.popularity.append(self.random.paretovariate(1.1))

    def day(self, sessions: int) -> list[list[str]]:
        """The sessions of a day: mostly from a product to one of its partners, sometimes within the department, rarely
        anywhere."""
        products = range(len(self.partners))
        anywhere = list(accumulate(self.popularity))
        within = [list(accumulate(self.popularity[p] for p in ids)) for ids in self.departments]
        result = []
        for _ in range(sessions):
            (product,) = self.random.choices(products, cum_weights=anywhere)
            session = [product]
            for _ in range(1 + min(int(self.random.expovariate(0.25)), 30)):
                chance, department = self.random.random(), self.department_of[product]
                if chance < 0.6 and self.partners[product]:
                    partners = self.partners[product]
                    (product,) = self.random.choices(partners, [self.popularity[p] for p in partners])
                elif chance < 0.9:
                    (product,) = self.random.choices(
                        self.departments[department], cum_weights=within[department]
                    )
                else:
                    (product,) = self.random.choices(products, cum_weights=anywhere)
                session.append(product)
            result.append([f"product-{product}" for product in session])
        return result


def hit_rate(vectors: Any, sessions: list[list[str]]) -> tuple[float, float]:
    """The share of sessions whose last product is among the nearest of the one before, and its standard error."""
    asked = [session[-2:] for session in sessions if all(product in vectors for product in session[-2:])]
    hits = sum(
        last in {word for word, _ in vectors.most_similar(before, topn=NEAREST)} for before, last in asked
    )
    rate = hits / len(asked)
    return rate, math.sqrt(rate * (1 - rate) / len(asked))


class Result(NamedTuple):
    """What a program reached."""

    program: str
    rate: float
    error: float
    seconds: float


def live(
    days: int, sessions: int, products: int = 3000, new_products: int = 30, seed: int = 1
) -> list[Result]:
    """Lets both programs learn the days, and asks them about the day after. The seconds are those of the last update."""
    shop = Shop(products, seed)
    trainer = skipstream.Trainer.for_items(dimensions=DIMENSIONS, seed=seed)
    so_far: list[list[str]] = []
    for _ in range(days):
        today = shop.day(sessions)
        so_far += today
        start = time.perf_counter()
        trainer.train(today)
        seconds = time.perf_counter() - start
        for _ in range(new_products):
            shop.add()
    start = time.perf_counter()
    other = gensim.models.Word2Vec(
        so_far,
        sg=1,
        vector_size=DIMENSIONS,
        window=trainer.window,
        shrink_windows=False,
        sample=trainer.subsample,
        ns_exponent=trainer.noise_exponent,
        min_count=1,
        seed=seed,
        workers=os.cpu_count() or 1,
    )
    again = time.perf_counter() - start
    tomorrow = shop.day(sessions)
    return [
        Result("skipstream, the last day", *hit_rate(trainer.embeddings(), tomorrow), seconds),
        Result("gensim, all days again", *hit_rate(other.wv, tomorrow), again),
    ]


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=4000, help="sessions per day")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'':26} hit rate@{NEAREST}  standard error  seconds")
    for program, rate, error, seconds in live(arguments.days, arguments.sessions, seed=arguments.seed):
        print(f"{program:26} {rate:11.1%} {error:15.1%} {seconds:8.2f}")


if __name__ == "__main__":
    main()
