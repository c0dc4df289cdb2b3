"""The vectors of texts, asked for with OpenAI's own client."""

import math
from array import array
from collections.abc import Callable

import pytest
from openai import AuthenticationError, BadRequestError, OpenAI, UnprocessableEntityError
from planted import TOPICS
from service import Service


def client_of(service: Service, token: str = "none") -> OpenAI:
    return OpenAI(base_url=f"{service.address}/v1", api_key=token, max_retries=0)


def dot(first: list[float], second: list[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_texts_about_the_same_topic_are_near_by_dot_product(service: Service) -> None:
    texts = [" ".join(words[i::2]) for words in TOPICS.values() for i in (0, 1)]
    # Without a format, the client asks for base64 and decodes it.
    found = client_of(service).embeddings.create(model="skipstream", input=texts)
    assert [item.index for item in found.data] == list(range(len(texts)))
    assert found.usage.total_tokens == sum(len(text.split()) for text in texts)
    vectors = [item.embedding for item in found.data]
    for place, vector in enumerate(vectors):
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-6)
        nearest = max((other for other in range(len(texts)) if other != place), key=lambda i: dot(vector, vectors[i]))
        assert nearest == place ^ 1, texts[place]


def test_numbers_and_base64_are_the_same_vector(service: Service) -> None:
    create = client_of(service).embeddings.create
    as_numbers = create(model="any name", input="cat and dog", encoding_format="float")
    by_default = create(model="any name", input="cat and dog", dimensions=24)
    # The shortest decimals that are the same 32-bit floats.
    assert array("f", as_numbers.data[0].embedding) == array("f", by_default.data[0].embedding)
    assert len(by_default.data[0].embedding) == 24
    assert as_numbers.model == "skipstream"
    as_text = create(model="any name", input="cat and dog", encoding_format="base64")
    assert isinstance(as_text.data[0].embedding, str)


def test_the_raw_mean_is_available(service: Service) -> None:
    create = client_of(service).embeddings.create
    unit = create(model="skipstream", input="cat and dog").data[0].embedding
    raw = create(model="skipstream", input="cat and dog", extra_body={"normalize": False}).data[0].embedding
    norm = math.hypot(*raw)
    assert norm != pytest.approx(1, abs=1e-3)
    assert unit == pytest.approx([value / norm for value in raw], abs=1e-6)


def test_a_text_without_a_known_word_is_an_error_or_null(service: Service) -> None:
    create = client_of(service).embeddings.create
    with pytest.raises(UnprocessableEntityError, match=r"input\[1\] has no known word: `zzqx`, `vvwk`") as refused:
        create(model="skipstream", input=["cat", "zzqx vvwk"])
    assert (refused.value.code, refused.value.body["missed"]) == ("unknown-words", ["zzqx", "vvwk"])
    found = create(model="skipstream", input=["Cat", "zzqx vvwk", ""], extra_body={"allow_null": True})
    assert [item.words for item in found.data] == [1, 0, 0]
    assert [item.embedding is None for item in found.data] == [False, True, True]


def test_the_model_is_listed(service: Service) -> None:
    assert [model.id for model in client_of(service).models.list()] == ["skipstream"]


def test_errors_say_what_to_do(service: Service) -> None:
    create = client_of(service).embeddings.create
    with pytest.raises(BadRequestError, match="check_embedding_ctx_length=False") as refused:
        create(model="skipstream", input=[[1, 2, 3]])
    assert (refused.value.code, refused.value.status_code) == ("bad-json", 400)
    with pytest.raises(BadRequestError, match="dimensions is 7; the model has 24"):
        create(model="skipstream", input="cat", dimensions=7)


def test_the_api_key_is_a_token(fresh: Callable[..., Service], tmp_path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("read openai-0123456789abcdef\n")
    tokens.chmod(0o600)
    service = fresh("--tokens", str(tokens))
    client = client_of(service, "openai-0123456789abcdef")
    with pytest.raises(UnprocessableEntityError, match="no known word: `tea`"):
        client.embeddings.create(model="skipstream", input="tea")
    assert [model.id for model in client.models.list()] == ["skipstream"]
    with pytest.raises(AuthenticationError, match="unknown token"):
        client_of(service, "wrong-0123456789abcdef").embeddings.create(model="skipstream", input="tea")
