"""What the service tells about itself."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families

from verifier_server import __version__
from verifier_server.client import LocalServer

BUILT_IN = {"math", "exact", "choice", "format", "constraint", "code", "composite", "control"}


def test_it_is_healthy_and_ready(api: httpx.Client) -> None:
    assert api.get("/healthz").json() == {"status": "ok"}
    ready = api.get("/readyz").json()
    assert ready["ready"] is True
    assert set(ready["queues"]) >= {"cpu", "sandbox"}


def test_it_tells_its_version_and_sandbox(api: httpx.Client) -> None:
    version = api.get("/version").json()
    assert version["version"] == __version__
    assert version["sandbox"].startswith(("namespaces", "bubblewrap"))


def test_every_checker_is_described(api: httpx.Client) -> None:
    checkers = {c["name"]: c for c in api.get("/checkers").json()}
    assert set(checkers) >= BUILT_IN
    for name in BUILT_IN:
        assert checkers[name]["status"] == "ok", checkers[name]["needs"]
        assert checkers[name] == api.get(f"/checkers/{name}").json()
        assert checkers[name]["params_schema"]
        scores = {example["score"] for example in checkers[name]["examples"]}
        assert {0, 1} <= scores


def test_every_example_of_every_checker_is_judged_as_it_promises(api: httpx.Client) -> None:
    report = api.post("/selftest").json()
    assert report["failed"] == []
    assert report["ok"] is True
    assert report["examples"] >= 40


def test_verdicts_are_counted_by_outcome(api: httpx.Client) -> None:
    labels = {"checker": "exact", "outcome": "accepted", "fault": "none"}
    before = _counted(api, "verifier_verdicts_total", labels)
    item = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}
    api.post("/score", json={"items": [item, item | {"completion": "5"}]})
    assert _counted(api, "verifier_verdicts_total", labels) == before + 1


def test_tampering_is_counted_by_kind(api: httpx.Client) -> None:
    labels = {"checker": "code", "kind": "always_equal"}
    before = _counted(api, "verifier_tampering_total", labels)
    item = {
        "checker": "code",
        "params": {"mode": "asserts", "asserts": "assert Money(3) == 3"},
        "completion": "class Money:\n    def __init__(self, n): pass\n"
        "    def __eq__(self, other): return True",
    }
    assert api.post("/score", json=item).json()["outcome"] == "policy_violation"
    assert _counted(api, "verifier_tampering_total", labels) == before + 1


def _counted(api: httpx.Client, name: str, labels: dict[str, str]) -> float:
    families = text_string_to_metric_families(api.get("/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return sum(s.value for s in samples if s.name == name and s.labels == labels)


def test_openapi_names_every_model_it_refers_to(api: httpx.Client) -> None:
    schema = api.get("/openapi.json").json()
    known = schema["components"]["schemas"]
    assert {"Item", "Batch", "Verdict", "BatchVerdicts", "Problem"} <= set(known)
    references = set(_references(schema))
    assert references <= {f"#/components/schemas/{name}" for name in known}


def _references(node: object) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [ref for value in node.values() for ref in _references(value)]
    if isinstance(node, list):
        return [ref for value in node for ref in _references(value)]
    return []


def test_without_a_key_only_health_is_served() -> None:
    with (
        LocalServer(env={"VERIFIER_API_KEYS": "first-key, second-key"}) as server,
        httpx.Client(base_url=server.url, trust_env=False) as api,
    ):
        assert api.get("/healthz").status_code == 200
        assert api.get("/checkers").status_code == 401
        bearer = {"authorization": "Bearer second-key"}
        assert api.get("/checkers", headers=bearer).status_code == 200
        wrong = {"authorization": "Bearer second-ke"}
        assert api.get("/checkers", headers=wrong).status_code == 401
