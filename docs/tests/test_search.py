"""A reader who types the standard word finds the page about it: with the search engine of the site, and its index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lunr import lunr

FOUND = {
    "alert": "operations/metrics-and-alerts.html",
    "backup": "operations/backup.html",
    "checkpoint": "operations/backup.html",
    "deterministic": "how-it-works/index.html",
    "drift": "guides/drift.html",
    "gensim": "guides/migrating.html",
    "half-life": "guides/forgetting.html",
    "kafka": "guides/brokers.html",
    "kubernetes": "operations/running.html",
    "out of vocabulary": "guides/unknown-words.html",
    "out-of-vocabulary": "guides/unknown-words.html",
    "prometheus": "operations/metrics-and-alerts.html",
    "retention": "operations/backup.html",
    "timeout": "operations/configure.html",
    "tokens": "operations/configure.html",
    "upgrade": "operations/upgrade.html",
}


@pytest.fixture(scope="module")
def index(site: Path) -> Any:
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    # The weights of the theme: a word in a title counts most.
    fields = [{"field_name": "title", "boost": 1000}, {"field_name": "text", "boost": 1}]
    return lunr(ref="location", fields=fields, documents=found["docs"])


@pytest.mark.parametrize(("word", "page"), FOUND.items())
def test_the_page_is_among_the_first(index: Any, word: str, page: str) -> None:
    found = dict.fromkeys(hit["ref"].partition("#")[0] for hit in index.search(word.replace("-", " ")))
    assert page in list(found)[:5]
