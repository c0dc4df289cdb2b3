"""The pages of the reference that a running service tells."""

from __future__ import annotations

import re
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Nothing listens there, so the service shows the metrics of brokers that are away.
AWAY = "nats://127.0.0.1:1/nothing"
INTRODUCTION = """A running service shows the same at `/docs`, where you can try each request, and `/openapi.json` is the document that
this page was made from. Without a token file, no token is needed. [The service](../guides/service.md) says what the requests are for."""
INTEGER = re.compile("[ui][0-9]+")
METHODS = ["get", "put", "post", "delete"]


def pages() -> dict[str, str]:
    """Starts a service, and describes its requests and its metrics."""
    sys.path.append(str(ROOT / "crates/skipstream-server/tests/browser"))
    from service import Service

    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), "--source", AWAY, "--publish", AWAY)
        service.start()
        try:
            document = service.ask("/openapi.json")
            with urllib.request.urlopen(f"{service.address}/metrics", timeout=10) as answer:
                text = answer.read().decode()
        finally:
            service.stop()
    return {"reference/http.md": requests(document), "reference/metrics.md": metrics(text)}


def requests(document: dict[str, Any]) -> str:
    """The OpenAPI document as a page: requests by tag, and then the types in their bodies."""
    schemas = document["components"]["schemas"]
    page = [
        "# HTTP API",
        document["info"].get("description", ""),
        INTRODUCTION,
    ]
    for tag in document["tags"]:
        page.append(f"## {tag['name'].capitalize()}\n\n{tag.get('description', '')}")
        for path, operations in document["paths"].items():
            for method in METHODS:
                operation = operations.get(method)
                if operation and tag["name"] in operation["tags"]:
                    page += request(method, path, operation)
    page.append("## Types")
    for name, schema in sorted(schemas.items()):
        if not INTEGER.fullmatch(name):
            page += [f"### {name}", *described(schema)]
    return "\n\n".join(filter(None, page)) + "\n"


def request(method: str, path: str, operation: dict[str, Any]) -> list[str]:
    """One request: who may send it, its parameters and its answers."""
    roles = [role for need in operation.get("security", []) for role in need.get("token", [])]
    facts = [f"Role: {', '.join(roles)}" if roles else "No token needed"]
    if lane := operation.get("x-lane"):
        facts.append(f"lane: {lane}")
    if seconds := operation.get("x-timeout-seconds"):
        facts.append(f"timeout: {seconds:g} s")
    if limit := operation.get("x-max-body-bytes"):
        facts.append(f"body: at most {limit:,} bytes")
    parts = [
        f"### {method.upper()} {path}",
        sentence(operation.get("summary", "")),
        operation.get("description", ""),
        "; ".join(facts) + ".",
    ]
    parameters = operation.get("parameters", [])
    if parameters:
        rows = [
            f"| `{each['name']}` | {each['in']} | {kind(each['schema'])} | {cell(each.get('description', ''))} |"
            for each in parameters
        ]
        parts.append("| parameter | in | type | meaning |\n|---|---|---|---|\n" + "\n".join(rows))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body: `{media}`, {kind(body.get('schema', {}))}")
    rows = []
    for status, answer in operation["responses"].items():
        types = [kind(body.get("schema", {})) for body in answer.get("content", {}).values()]
        rows.append(f"| {status} | {cell(answer['description'])} | {', '.join(dict.fromkeys(types))} |")
    parts.append("| status | meaning | body |\n|--:|---|---|\n" + "\n".join(rows))
    return parts


def described(schema: dict[str, Any]) -> list[str]:
    """What a type is, and its fields, including those of the types that it extends."""
    about = schema.get("description", "")
    parts = schema.get("allOf", [schema])
    extended = [kind(part) for part in parts if "$ref" in part]
    rows = [
        f"| `{name}` | {kind(each)}{'' if name in part.get('required', []) else ', optional'} |"
        f" {cell(each.get('description', ''))} |"
        for part in parts
        for name, each in part.get("properties", {}).items()
    ]
    return [
        sentence(about or parts[0].get("description", "")),
        f"All fields of {' and '.join(extended)}{', and these' if rows else ''}." if extended else "",
        "| field | type | meaning |\n|---|---|---|\n" + "\n".join(rows) if rows else "",
        "" if rows or extended else f"A value of this type is: {kind(schema)}.",
    ]


def kind(schema: dict[str, Any]) -> str:
    """The type of a value in a few words, with a link if it is described below."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return "integer" if INTEGER.fullmatch(name) else f"[{name}](#{name.lower()})"
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in schema:
            return " or ".join(
                dict.fromkeys(kind(each) for each in schema[choice] if each.get("type") != "null")
            )
    if values := schema.get("enum"):
        return ", ".join(f"`{value}`" for value in values)
    name = schema.get("type", "any")
    if isinstance(name, list):
        name = " or ".join(each for each in name if each != "null")
    if name == "array":
        return f"list of {kind(schema.get('items', {}))}"
    least, most = schema.get("minimum"), schema.get("maximum")
    return f"{name}, {least:,} to {most:,}" if least is not None and most is not None else name


def metrics(text: str) -> str:
    """The metrics that a service exports."""
    rows = []
    for name, meaning in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE):
        type = re.search(rf"^# TYPE {name} (\w+)$", text, re.MULTILINE)
        samples = re.findall(rf"^({name}\w*)(?:{{(.*?)}})? ", text, re.MULTILINE)
        names = dict.fromkeys(sample for sample, _ in samples)
        labels = dict.fromkeys(label for _, found in samples for label in re.findall(r'(\w+)="', found))
        shown = ", ".join(f"`{each}`" for each in names) or f"`{name}`"
        rows.append(f"| {shown} | {type[1] if type else ''} | {', '.join(labels)} | {meaning} |")
    return (
        "# Metrics\n\n`GET /metrics` has these in Prometheus' text format."
        " [Metrics and alerts](../operations/metrics-and-alerts.md) has rules for them.\n\n"
        "Metrics of sources and of the sink appear if the service has a broker (`--source`, `--publish`).\n\n"
        "| metric | type | labels | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def sentence(text: str) -> str:
    """The text with a full stop."""
    return f"{text.strip()}." if text and not text.strip().endswith((".", ":")) else text.strip()


def cell(text: str) -> str:
    """The text on one line, for a table."""
    return " ".join(text.replace("|", "\\|").split())
