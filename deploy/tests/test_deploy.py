"""Checks the files for operators against the real program, Prometheus' own checker, and published schemas."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parents[1]
ROOT = DEPLOY.parent
PROGRAM = os.environ["SKIPSTREAM"]
MONITORING = DEPLOY / "monitoring"
METRIC = re.compile(r"\bskipstream_[a-z_]+")
RULES = yaml.safe_load((MONITORING / "alerts.yml").read_text())
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The metrics of a real service. Its brokers are away, but they have their metrics."""
    folder = tmp_path_factory.mktemp("service")
    command = [PROGRAM, "serve", "--data", str(folder / "data"), "--listen", "127.0.0.1:0", "--drain-time", "0s"]
    command += ["--source", "nats://127.0.0.1:9/S", "--publish", "nats://127.0.0.1:9/events"]
    with (folder / "log").open("w") as log:
        service = subprocess.Popen(command, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not (found := re.search(r"listening on (http://[0-9.:]+)", (folder / "log").read_text())):
            assert service.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        urllib.request.urlopen(found[1] + "/v1/stats").read()
        yield urllib.request.urlopen(found[1] + "/metrics").read().decode()
    finally:
        service.terminate()
        assert service.wait(60) == 0


def names(metrics: str) -> set[str]:
    """Every name that has a value."""
    return {METRIC.match(line)[0] for line in metrics.splitlines() if METRIC.match(line)}


def expressions() -> list[str]:
    rules = [rule["expr"] for group in RULES["groups"] for rule in group["rules"]]
    panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    assert len(rules) > 5 and len(panels) > 10
    return rules + panels


@pytest.mark.parametrize("expression", expressions())
def test_every_metric_of_an_alert_or_panel_exists(expression: str, metrics: str) -> None:
    used = set(METRIC.findall(expression))
    # `up` is a metric of Prometheus itself.
    assert used or expression.startswith("up{")
    assert used <= names(metrics)


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells


def test_the_data_source_of_the_dashboard_is_provisioned() -> None:
    sources = yaml.safe_load((MONITORING / "grafana/datasources/prometheus.yml").read_text())["datasources"]
    assert [source["type"] for source in sources] == ["prometheus"]
    ports = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["prometheus"]["ports"]
    assert sources[0]["url"].rsplit(":")[-1] == ports[0].rsplit(":")[-1]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (`apt-get install prometheus`)")
def test_prometheus_accepts_settings_alerts_and_queries(tmp_path: Path) -> None:
    def promtool(*arguments: object) -> None:
        checked = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr

    promtool("check", "rules", MONITORING / "alerts.yml")
    promtool("check", "config", "--syntax-only", MONITORING / "prometheus.yml")
    # What Grafana puts in for its variables.
    queries = [expression.replace("$__rate_interval", "1m") for expression in expressions()]
    rules = [{"record": f"panel_{number}", "expr": query} for number, query in enumerate(queries)]
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    promtool("check", "rules", file)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (`apt-get install prometheus`)")
def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    """Simulates a service that is well for ten minutes, and then is in trouble."""
    trouble = {
        "SkipstreamDown": {'up{job="skipstream"}': "1x10 0x20"},
        "SkipstreamCannotLearn": {"skipstream_problem": "0x10 1x20"},
        "SkipstreamThreadDown": {'skipstream_thread_up{thread="learner"}': "1x10 0x20"},
        "SkipstreamQueueFilling": {"skipstream_queue_bytes": "0x10 90x20", "skipstream_queue_limit_bytes": "100x30"},
        "SkipstreamStale": {"skipstream_queue_lines": "0x10 5x20", "skipstream_snapshot_age_seconds": "1x10 900x20"},
        "SkipstreamSourceDown": {'skipstream_source_up{source="s"}': "1x10 0x20"},
        "SkipstreamEventsDropped": {"skipstream_sink_dropped_messages_total": "0x10 1+1x20"},
        "SkipstreamErrors": {'skipstream_http_requests_total{status="503"}': "0x10 60+60x20"},
    }
    rules = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
    assert set(trouble) == set(rules), "every alert has its case here"
    tests = []
    for alert, series in trouble.items():
        # Only whether it fires is checked: each case has its own labels.
        fires = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
        expected = [(9, 0), (25, 1)]
        tests.append(
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {"expr": fires, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": value}]}
                    for minute, value in expected
                ],
            }
        )
    file = tmp_path / "tests.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(MONITORING / "alerts.yml")], "tests": tests}))
    checked = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_kubernetes_accepts_the_manifests(tmp_path: Path) -> None:
    import kubernetes_validate

    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes/skipstream.yaml").read_text()))
    assert {document["kind"] for document in documents} == {"ConfigMap", "Service", "StatefulSet"}
    for document in documents:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    # A checker that accepts everything would accept this too.
    documents[-1]["spec"]["replicaCount"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(documents[-1], kubernetes_validate.latest_version(), strict=True)
    # The settings in it are settings of the program, and it starts with them.
    settings = tmp_path / "serve.toml"
    settings.write_text(documents[0]["data"]["serve.toml"])
    arguments = ["serve", "--data", str(tmp_path / "data"), "--settings", str(settings), "--listen", "0.0.0.0:0"]
    refused = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "token" in refused.stderr, "it is to be refused for its missing tokens only"


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.compose-spec", DEPLOY / "compose.yaml"), ("vendor.dependabot", ROOT / ".github/dependabot.yml")]
    + [("vendor.github-workflows", path) for path in WORKFLOWS],
)
def test_the_file_has_the_published_schema(schema: str, path: Path) -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    checked = subprocess.run(check, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_workflows_are_safe() -> None:
    assert WORKFLOWS
    zizmor = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--no-progress", str(ROOT / ".github")]
    checked = subprocess.run(zizmor, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "nats.conf"])
def test_files_that_are_mounted_or_copied_exist(name: str) -> None:
    text = (DEPLOY / name).read_text()
    for path in re.findall(r"- (\./[^:]+):", text):
        assert (DEPLOY / path).exists(), path
