"""Text with a known structure: words of the same topic occur together."""

import random

TOPICS = {
    "colors": "red green blue yellow purple orange crimson violet turquoise scarlet".split(),
    "animals": "cat dog horse rabbit tiger lion wolf sheep goat donkey".split(),
    "cities": "berlin paris london madrid rome vienna prague dublin lisbon warsaw".split(),
    "tools": "hammer saw drill wrench pliers chisel screwdriver ladder anvil spanner".split(),
}


def sentences(n: int, seed: int, topics: dict[str, list[str]] = TOPICS) -> str:
    """`n` lines, each of eight words of one topic."""
    random_numbers = random.Random(seed)
    names = sorted(topics)
    lines = (" ".join(random_numbers.choices(topics[random_numbers.choice(names)], k=8)) for _ in range(n))
    return "".join(f"{line}\n" for line in lines)
