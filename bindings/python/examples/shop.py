"""Items as words: which product comes next in the sessions of a shop?

A session is a sentence, and a product is a word. The shop is invented, so that everyone can run this, and so that we know
the truth: each product has a few others that go with it. Every day brings new products. For each session of the next day,
ten products are predicted from the last but one, and compared with the last: the nearest by cosine, those that `predict_next`
ranks first, and those that were most often in one session with it.

skipstream learns each day once, when it comes. gensim is trained from scratch on all days so far, with the same settings.

    python shop.py --days 20 --sessions 4000
    python shop.py --file sessions.txt
"""

import argparse
import math
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import accumulate, permutations
from typing import Any, NamedTuple

import gensim
import skipstream

DIMENSIONS = 64
NEAREST = 10

Sessions = list[list[str]]


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

    def day(self, sessions: int) -> Sessions:
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


class Counts:
    """How often each two products were in one session: a table of pairs, which grows with the sessions."""

    def __init__(self) -> None:
        self.met: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def train(self, sessions: Sessions) -> None:
        for session in sessions:
            for one, other in permutations(session, 2):
                if one != other:
                    self.met[one][other] += 1

    def predict_next(self, product: str, n: int) -> list[tuple[str, int]]:
        return self.met[product].most_common(n)


class Result(NamedTuple):
    """What a program reached."""

    program: str
    rate: float
    error: float
    """The standard error of the rate."""
    apart: float
    """The rate for pairs that were never in one session before."""
    seconds: float


def compare(days: list[Sessions], tomorrow: Sessions, seed: int) -> list[Result]:
    """Lets all programs learn the days, and asks them which product of tomorrow's sessions is the last, after the one
    before. The seconds are those of the last update."""
    trainer = skipstream.Trainer.for_items(dimensions=DIMENSIONS, seed=seed)
    counts = Counts()
    for today in days:
        seconds = [clock(trainer.train, today), clock(counts.train, today)]
    so_far = [session for today in days for session in today]
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
    nearest, joined = trainer.embeddings(), trainer.embeddings("joined")
    asked = [session[-2:] for session in tomorrow if all(product in joined for product in session[-2:])]
    apart = [last not in counts.met[before] for before, last in asked]

    def result(program: str, answer: Callable[[str], Any], seconds: float) -> Result:
        hits = [last in {product for product, _ in answer(before)} for before, last in asked]
        rate = sum(hits) / len(hits)
        error = math.sqrt(rate * (1 - rate) / len(hits))
        rate_apart = sum(hit for hit, is_apart in zip(hits, apart) if is_apart) / max(1, sum(apart))
        return Result(program, rate, error, rate_apart, seconds)

    print(f"{len(asked):,} questions, {sum(apart):,} of them about pairs that had not met")
    return [
        result("skipstream, neighbors", lambda before: nearest.neighbors(before, NEAREST), seconds[0]),
        result("skipstream, predict_next", lambda before: joined.predict_next(before, NEAREST), seconds[0]),
        result("gensim, most_similar", lambda before: other.wv.most_similar(before, topn=NEAREST), again),
        result("co-occurrence counts", lambda before: counts.predict_next(before, NEAREST), seconds[1]),
    ]


def clock(train: Callable[[Sessions], object], sessions: Sessions) -> float:
    """The seconds that it takes to learn sessions."""
    start = time.perf_counter()
    train(sessions)
    return time.perf_counter() - start


def live(
    days: int, sessions: int, products: int = 3000, new_products: int = 30, seed: int = 1
) -> list[Result]:
    """Compares the programs on the sessions of the invented shop."""
    shop = Shop(products, seed)
    learned = []
    for _ in range(days):
        learned.append(shop.day(sessions))
        for _ in range(new_products):
            shop.add()
    return compare(learned, shop.day(4000), seed)


def read(path: str, seed: int) -> list[Result]:
    """Compares the programs on the sessions of a file, one per line. The last tenth of them is asked about."""
    with open(path, encoding="utf-8") as file:
        sessions = [session for session in map(str.split, file) if len(session) > 1]
    days = 9 * len(sessions) // 10
    return compare([sessions[:days]], sessions[days:], seed)


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=4000, help="sessions per day")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", help="sessions of your own, one per line, instead of the shop")
    arguments = parser.parse_args()
    if arguments.file:
        results = read(arguments.file, arguments.seed)
    else:
        results = live(arguments.days, arguments.sessions, seed=arguments.seed)
    print(f"{'':26} hit rate@{NEAREST}  standard error  had not met  seconds")
    for program, rate, error, apart, seconds in results:
        print(f"{program:26} {rate:11.1%} {error:15.1%} {apart:12.1%} {seconds:8.2f}")


if __name__ == "__main__":
    main()
