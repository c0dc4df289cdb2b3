"""`skipstream sync` with real stores that come, go, fail and are asked."""

import json
import signal
import time
from collections import Counter

import numpy
import pytest
from conftest import many_words, text
from servers import PASSWORD, Postgres, Qdrant

WORDS = [f"word{number}" for number in range(60)]


def counts(line):
    """The numbers of `1 added, 2 changed, 3 removed, 4 unchanged`."""
    fields = [field.split() for field in line.strip().split(", ")]
    return {name: int(number.replace(",", "")) for number, name in fields}


def same_vectors(store, name, wanted):
    """Whether the store has these words and directions. (Qdrant scales vectors to length 1.)"""
    stored = store.words(name)
    assert stored.keys() == wanted.keys()
    for word, (_, vector) in wanted.items():
        found = stored[word][1]
        if isinstance(store, Postgres):
            assert numpy.array_equal(found, vector), word
        else:
            assert numpy.allclose(found, vector / numpy.linalg.norm(vector), atol=1e-6), word


def magnitude(count):
    dropped = max(0, count.bit_length() - 3)
    return count >> dropped << dropped


def test_only_what_changed_is_written(skipstream, store):
    def versions():
        """The transactions that wrote the rows."""
        return dict(store.sql("SELECT word, xmin::text FROM changing")) if isinstance(store, Postgres) else {}

    address = store.address("changing")
    sync = ["sync", "--model", "m", "--vectors", "target", address]
    skipstream.train("m", text(WORDS, 300, 1))
    before = skipstream.vectors("m", "--vectors", "target")
    assert counts(skipstream(*sync, "--dry-run"))["added"] == 60
    assert store.n_words("changing") == 0
    assert skipstream(*sync) == "60 added, 0 changed, 0 removed, 0 unchanged\n"
    same_vectors(store, "changing", before)
    stored_counts = {word: count for word, (count, _) in store.words("changing").items()}
    assert stored_counts == {word: count for word, (count, _) in before.items()}
    assert skipstream(*sync) == "0 added, 0 changed, 0 removed, 60 unchanged\n"

    first = versions()
    skipstream.train("m", text(WORDS[::3] + ["new"] * 3, 50, 2))
    after = skipstream.vectors("m", "--vectors", "target")
    differs = {
        word
        for word in before
        if not numpy.array_equal(before[word][1], after[word][1])
        or magnitude(before[word][0]) != magnitude(after[word][0])
    }
    assert 0 < len(differs) < 60
    expected = f"1 added, {len(differs)} changed, 0 removed, {60 - len(differs)} unchanged\n"
    assert skipstream(*sync, "--dry-run") == expected
    assert skipstream(*sync) == expected
    same_vectors(store, "changing", after)
    assert {word for word, version in first.items() if versions()[word] != version} <= differs


def test_words_that_left_are_deleted(skipstream, store):
    address = store.address("leaving")
    sync = ["sync", "--model", "m", address]
    small = ["--max-vocabulary", 20]
    skipstream.train("m", text(WORDS[:20], 100, 1), *small)
    first = skipstream.vectors("m")
    assert counts(skipstream(*sync))["added"] == len(first)
    skipstream.train("m", text(WORDS[40:], 200, 2))
    second = skipstream.vectors("m")
    changes = counts(skipstream(*sync))
    assert changes["removed"] == len(first.keys() - second.keys()) > 0
    assert changes["added"] == len(second.keys() - first.keys())
    same_vectors(store, "leaving", second)
    assert counts(skipstream(*sync, "--top", 5)) == {
        "added": 0, "changed": 0, "removed": len(second) - 5, "unchanged": 5,
    }  # fmt: skip
    refused = skipstream.run(*sync, "--min-count", 1_000_000)
    assert (refused.returncode, store.n_words("leaving")) == (2, 5)
    assert "no words are selected" in refused.err


@pytest.mark.parametrize("victim", ["command", "server"])
def test_killed_in_the_middle_it_resumes(skipstream, store, victim):
    name = f"killed_{victim}"
    n = 30_000 if isinstance(store, Postgres) else 8_000
    many_words(skipstream.folder / "v.bin", n, 256)
    sync = ["sync", "--model", "v.bin", store.address(name)]
    process = skipstream.start(*sync)
    while store.n_words(name) == 0:
        assert process.poll() is None
        time.sleep(0.002)
    if victim == "command":
        process.kill()
        process.communicate()
        written = store.n_words(name)
        assert 0 < written < n, "the kill came too late"
        assert written % 1024 == 0, "a batch is stored whole or not at all"
        changes = counts(skipstream(*sync))
        # The server may have finished the batch that it had received.
        assert changes["unchanged"] in [written, written + 1024]
        assert (changes["added"], changes["changed"]) == (n - changes["unchanged"], 0)
    else:
        store.stop()
        time.sleep(0.5)
        store.start()
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert "trying again in" in errors
    assert store.n_words(name) == n
    assert counts(skipstream(*sync))["unchanged"] == n


def test_a_server_that_is_away_is_waited_for(skipstream, store):
    skipstream.train("m", text(WORDS, 100, 1))
    sync = ["sync", "--model", "m", store.address("waited")]
    store.stop()
    try:
        refused = skipstream.run(*sync, "--retry-for", "1s")
        assert refused.returncode == 2
        assert refused.err.count("trying again in") == 2
        assert "refused" in refused.err and "it was tried for 1s" in refused.err.splitlines()[-1]
        process = skipstream.start(*sync)
        time.sleep(1)
    finally:
        store.start()
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, counts(out)["added"]) == (0, 60), errors


def test_it_follows_the_file(skipstream, store):
    skipstream.train("m", text(WORDS[:30], 100, 1))
    process = skipstream.start("sync", "--model", "m", "--every", "100ms", store.address("following"))
    assert counts(process.stdout.readline())["added"] == 30
    skipstream.train("m", text(WORDS, 300, 2))
    seen = Counter()
    while seen["added"] < 30:
        seen.update(counts(process.stdout.readline()))
    store.stop()
    try:
        skipstream.train("m", text([*WORDS, "new"], 100, 3))
        time.sleep(1)
    finally:
        store.start()
    seen = Counter()
    while seen["added"] < 1:
        seen.update(counts(process.stdout.readline()))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    same_vectors(store, "following", skipstream.vectors("m"))


def test_vectors_of_another_length_are_refused(skipstream, store):
    skipstream.train("m", text(WORDS, 100, 1))
    sync = ["sync", "--model", "m", store.address("lengths")]
    skipstream(*sync, "--vectors", "target")
    refused = skipstream.run(*sync, "--vectors", "joined")
    assert refused.returncode == 2
    assert "16" in refused.err and "32" in refused.err and "name another" in refused.err, refused.err
    assert counts(skipstream(*sync, "--vectors", "target"))["unchanged"] == 60


def test_the_store_finds_the_neighbors_that_the_command_finds(skipstream, store):
    skipstream.train("m", text(WORDS, 500, 1))
    skipstream("sync", "--model", "m", store.address("asked"))
    for word in WORDS[:5]:
        answer = json.loads(skipstream("neighbors", "--model", "m", "--json", "-n", 10, "--min-count", 0, word))
        answer = answer[0] if isinstance(answer, list) else answer
        neighbors = [near["word"] for near in answer["neighbors"]]
        assert store.nearest("asked", word, 10) == neighbors


def test_without_the_password_nothing_is_done_and_it_is_never_shown(skipstream, store):
    skipstream.train("m", text(WORDS, 100, 1))
    address = store.address("secret")
    [variable] = store.environment
    sync = ["sync", "--model", "m", "--retry-for", "0s", address]
    skipstream(*sync, "--dry-run")
    for wrong in ["wrong-one", None]:
        skipstream.environment.pop(variable)
        if wrong:
            skipstream.environment[variable] = wrong
        refused = skipstream.run(*sync)
        assert refused.returncode == 2
        assert f"set {variable}" in refused.err or "password" in refused.err, refused.err
        assert "wrong-one" not in refused.err
        skipstream.environment[variable] = PASSWORD
    given = address.replace("me@", f"me:{PASSWORD}@").replace("http://", f"http://me:{PASSWORD}@")
    refused = skipstream.run("sync", "--model", "m", given)
    assert refused.returncode == 2
    assert f"set {variable}" in refused.err and PASSWORD not in refused.err


def test_words_of_all_kinds_are_stored(skipstream, store):
    """Quotes, backslashes, other scripts, and words that PostgreSQL cannot hold."""
    words = ["it's", 'a"b', "back\\slash", "{a,b}", "tab\\t", "漢字", "🙂", "NULL", "a" * 3000, "n\0l", "%s", "<a>"]
    lines = [f"{len(words)} 2", *(f"{word} {row} 1" for row, word in enumerate(words))]
    (skipstream.folder / "v.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sync = ["sync", "--model", "v.txt", store.address("kinds")]
    done = skipstream.run(*sync)
    assert done.returncode == 0, done.err
    held = {word for word in words if isinstance(store, Qdrant) or (len(word) < 2000 and "\0" not in word)}
    assert store.words("kinds").keys() == held
    assert ("PostgreSQL cannot hold" in done.err) == isinstance(store, Postgres)
    assert counts(skipstream(*sync))["unchanged"] == len(held)


def test_a_table_of_something_else_is_left_alone(skipstream, store):
    if not isinstance(store, Postgres):
        pytest.skip("for PostgreSQL")
    store.sql("CREATE SCHEMA app")
    store.sql("CREATE TABLE app.orders (id int PRIMARY KEY)")
    store.sql("INSERT INTO app.orders VALUES (1)")
    skipstream.train("m", text(WORDS, 100, 1))
    refused = skipstream.run("sync", "--model", "m", store.address("app.orders"))
    assert refused.returncode == 2 and "not a table of this command" in refused.err
    assert store.sql("SELECT id FROM app.orders") == [(1,)]
    assert counts(skipstream("sync", "--model", "m", store.address("app.words")))["added"] == 60
    assert store.n_words("app.words") == 60


def test_a_busy_server_is_asked_again(skipstream, store):
    if not isinstance(store, Qdrant):
        pytest.skip("for Qdrant")
    skipstream.train("m", text(WORDS, 100, 1))
    store.server.failures = [429, 503, 500]
    done = skipstream.run("sync", "--model", "m", store.address("busy"))
    assert (done.returncode, counts(done.out)["added"]) == (0, 60)
    assert done.err.count("trying again in") == 3


def test_points_of_something_else_are_left_alone(skipstream, store):
    if not isinstance(store, Qdrant):
        pytest.skip("for Qdrant")
    from qdrant_client.models import Distance, PointStruct, VectorParams

    client = store.client()
    client.create_collection("others", vectors_config=VectorParams(size=16, distance=Distance.COSINE))
    client.upsert("others", [PointStruct(id=1, vector=[1.0] * 16, payload={"title": "a book"})])
    skipstream.train("m", text(WORDS, 100, 1))
    refused = skipstream.run("sync", "--model", "m", "--vectors", "target", store.address("others"))
    assert refused.returncode == 2 and "point 1 is not one of this command" in refused.err, refused.err
    assert store.n_words("others") == 1
