"""The Kubernetes files hold against Kubernetes' schemas, the code, and each other."""

from __future__ import annotations

import importlib.util
import re

import kubernetes_validate
import pytest
import yaml

from api.app import describe_api
from shared.queue.names import QUEUES
from shared.settings import Settings, load_settings
from shared.telemetry import metrics
from tests.deploy.deployment import (
    KUBERNETES,
    PROCESSES,
    config,
    container_of,
    deployments,
    documents,
    image_settings,
    pod_of,
    settings_of,
)

VERSION = "1.33"
DEPLOYMENTS = deployments()
[MIGRATE] = documents("migrate")
[INGRESS] = [each for each in documents("production") if each["kind"] == "Ingress"]
SCALED = {each["metadata"]["name"]: each for each in documents("scaling")}
PODS = {**DEPLOYMENTS, "migrate": MIGRATE}
STOP_MARGIN_SECONDS = 10
PLAIN = [each for folder in ("base", "migrate") for each in documents(folder)] + [INGRESS]


def name_of(document):
    return f"{document['kind']}-{document['metadata']['name']}"


@pytest.mark.long
@pytest.mark.parametrize("document", PLAIN, ids=name_of)
def test_a_document_is_of_its_schema(document):
    kubernetes_validate.validate(document, VERSION, strict=True)


def test_the_schema_finds_a_wrong_type():
    wrong = yaml.safe_load(yaml.safe_dump(DEPLOYMENTS["front"]))
    container_of(wrong)["resources"]["requests"] = ["500m"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_every_process_of_a_farm_is_deployed():
    assert set(DEPLOYMENTS) == set(PROCESSES)


@pytest.mark.parametrize("name", PODS)
def test_a_pod_runs_unprivileged_on_a_read_only_file_system(name):
    pod, container = pod_of(PODS[name]), container_of(PODS[name])
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    security = container["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["limits"]["memory"]
    assert container["resources"]["requests"]
    assert all("emptyDir" in volume for volume in pod["volumes"])


@pytest.mark.parametrize("name", PODS)
def test_every_command_of_a_pod_exists(name):
    match container_of(PODS[name])["command"]:
        case ["gunicorn", "-c", settings, *_, app]:
            assert settings == "python:api.gunicorn_conf"
            assert app == "api.wsgi:app"
        case ["python", "-m", module]:
            assert importlib.util.find_spec(module)
        case ["pressroom", command]:
            assert command == "migrate"
        case other:
            pytest.fail(f"unknown command {other}")


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_setting_of_a_pod_is_one(name):
    given = {**image_settings(), **config(), **settings_of(container_of(DEPLOYMENTS[name]))}
    known = {f"PRESSROOM_{field.upper()}" for field in Settings.__dataclass_fields__}
    assert set(given) <= known
    urls = {"DATABASE_URL": "sqlite:////x", "REDIS_URL": "redis://x", "BLOB_URL": "file:///x"}
    load_settings(given | {f"PRESSROOM_{key}": value for key, value in urls.items()})


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_stopping_pod_has_time_to_finish_running_renders(name):
    pod, container = pod_of(DEPLOYMENTS[name]), container_of(DEPLOYMENTS[name])
    before = (
        container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [0, 0])
    )
    works = 5.0 if name in {"counter", "maintenance"} else 30.0
    if name in {"front", "worker", "batch"}:
        works = float(config()["PRESSROOM_RENDER_BUDGET"]) + 5
    needed = int(before[1]) + works + STOP_MARGIN_SECONDS
    assert pod["terminationGracePeriodSeconds"] >= needed


@pytest.mark.long
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_probes_and_services_use_the_port_that_the_process_has(name):
    container = container_of(DEPLOYMENTS[name])
    port = container["ports"][0]
    variables = {"batch": "WORKER", "maintenance": "MAINTENANCE", "webhooks": "WEBHOOKS"}
    named = variables.get(name, name.upper())
    expected = 8000 if name == "front" else int(image_settings()[f"PRESSROOM_{named}_METRICS_PORT"])
    assert port["containerPort"] == expected
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
    [service] = [
        each for each in documents("base")
        if each["kind"] == "Service" and each["metadata"]["name"] == name
    ]  # fmt: skip
    assert service["spec"]["clusterIP"] == "None"  # each replica by its address, for Prometheus
    assert service["spec"]["ports"][0]["port"] == expected
    labels = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_every_queue_has_a_pool_and_only_one():
    taken = [
        queue
        for deployment in DEPLOYMENTS.values()
        for queue in settings_of(container_of(deployment))
        .get("PRESSROOM_WORKER_QUEUES", "")
        .split(",")
        if queue
    ]
    assert sorted(taken) == sorted(QUEUES)


@pytest.mark.parametrize("name", ["worker", "batch"])
def test_the_memory_limit_of_a_worker_covers_its_children(name):
    container = container_of(DEPLOYMENTS[name])
    settings = settings_of(container)
    wanted = int(settings["PRESSROOM_WORKER_CONCURRENCY"]) * int(
        settings["PRESSROOM_CHILD_MEMORY_MB"]
    )
    assert (
        int(container["resources"]["limits"]["memory"].removesuffix("Gi")) * 1024 >= wanted * 1.25
    )


def test_there_is_one_counter_even_while_it_is_replaced():
    counter = DEPLOYMENTS["counter"]["spec"]
    assert (counter["replicas"], counter["strategy"]) == (1, {"type": "Recreate"})


def test_those_that_serve_and_render_are_not_all_taken_at_once():
    budgets = {
        each["metadata"]["name"]: each["spec"]
        for each in documents("base")
        if each["kind"] == "PodDisruptionBudget"
    }
    assert set(budgets) == {"front", "worker", "batch", "fetcher"}
    for name, budget in budgets.items():
        assert budget["maxUnavailable"] == 1
        labels = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]
        assert budget["selector"]["matchLabels"].items() <= labels.items()


def policies():
    return {
        each["metadata"]["name"]: each["spec"]
        for each in documents("base")
        if each["kind"] == "NetworkPolicy"
    }


def test_only_documented_ports_are_open():
    assert policies()["closed"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    ports = {
        rule["port"]
        for policy in ("requests", "scrapes")
        for way in policies()[policy]["ingress"]
        for rule in way["ports"]
    }
    assert ports == {
        container_of(each)["ports"][0]["containerPort"] for each in DEPLOYMENTS.values()
    }


def test_only_the_fetcher_and_webhooks_reach_the_internet():
    chosen = policies()["goes-out"]["podSelector"]["matchLabels"]
    reach = {
        name
        for name, each in DEPLOYMENTS.items()
        if chosen.items() <= each["spec"]["template"]["metadata"]["labels"].items()
    }
    assert reach == {"fetcher", "webhooks"}
    [to] = policies()["goes-out"]["egress"][0]["to"]
    for private in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "127.0.0.0/8",
    ):
        assert private in to["ipBlock"]["except"]


@pytest.mark.long
def test_the_fetcher_is_reached_by_fronts_and_workers_and_reaches_no_store():
    [port] = [
        each["containerPort"]
        for each in container_of(DEPLOYMENTS["fetcher"])["ports"]
        if each["name"] == "asks"
    ]
    assert image_settings()["PRESSROOM_FETCHER_BIND"] == f"0.0.0.0:{port}"
    assert config()["PRESSROOM_FETCHER_URL"] == f"http://fetcher:{port}"
    [asks] = policies()["asks"]["ingress"]
    [asks_out] = policies()["asks-out"]["egress"]
    assert policies()["asks"]["podSelector"] == asks_out["to"][0]["podSelector"]
    assert policies()["asks-out"]["podSelector"] == asks["from"][0]["podSelector"]
    assert asks["ports"] == asks_out["ports"] == [{"protocol": "TCP", "port": port}]
    [askers] = policies()["asks-out"]["podSelector"]["matchExpressions"]
    assert set(askers["values"]) == {"front", "worker", "batch"}
    [stores] = policies()["stores"]["podSelector"]["matchExpressions"]
    assert (stores["operator"], stores["values"]) == ("NotIn", ["fetcher"])
    with_secrets = {
        name for name, each in DEPLOYMENTS.items() if "secretRef" in str(container_of(each))
    }
    assert with_secrets == set(DEPLOYMENTS) - {"fetcher"}


def test_every_path_of_the_interface_is_behind_the_ingress_and_the_operators_are_not():
    paths = [path["path"] for path in INGRESS["spec"]["rules"][0]["http"]["paths"]]
    for route in describe_api()["paths"]:
        is_public = route not in {"/", "/metrics", "/readyz"}
        assert any(route == path or route.startswith(f"{path}/") for path in paths) is is_public, (
            route
        )


def test_the_ingress_leaves_limits_of_bodies_to_the_front():
    annotations = INGRESS["metadata"]["annotations"]
    prefix = "nginx.ingress.kubernetes.io/"
    assert annotations[f"{prefix}proxy-body-size"] == "0"
    assert annotations[f"{prefix}proxy-request-buffering"] == "off"


# What KEDA's prometheus trigger knows; its schema leaves a trigger's metadata open.
TRIGGER_KEYS = {"serverAddress", "query", "threshold", "activationThreshold", "ignoreNullValues"}


@pytest.mark.parametrize("name", SCALED)
def test_a_pool_is_scaled_by_queued_and_running_jobs(name):
    spec = SCALED[name]["spec"]
    assert spec["scaleTargetRef"]["name"] in DEPLOYMENTS
    assert (
        "stabilizationWindowSeconds"
        in spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
    )
    series = {series for each in metrics.ALL for series in each.series}
    for trigger in spec["triggers"]:
        assert trigger["type"] == "prometheus"
        assert set(trigger["metadata"]) == TRIGGER_KEYS
        assert trigger["metadata"]["ignoreNullValues"] == "false"
        assert set(re.findall(r"pressroom_\w+", trigger["metadata"]["query"])) <= series
    trigger, *more = spec["triggers"]
    query = trigger["metadata"]["query"]
    assert len(more) == (name == "batch")
    if name != "front":
        asked = set(re.search(r'queue=~?"([^"]*)"', query)[1].split("|"))
        settings = settings_of(container_of(DEPLOYMENTS[name]))
        assert asked == set(settings["PRESSROOM_WORKER_QUEUES"].split(","))
        assert {"pressroom_queue_waiting", "pressroom_queue_running"} <= set(
            re.findall(r"pressroom_\w+", query)
        )
        slots = int(settings["PRESSROOM_WORKER_CONCURRENCY"])
        assert float(trigger["metadata"]["threshold"]) <= 2 * slots


def test_the_pool_for_batches_is_scaled_by_the_documents_left_too():
    """Of a batch four slices wait in the queue, however many documents it has."""
    _, left = SCALED["batch"]["spec"]["triggers"]
    assert "pressroom_batch_documents_left" in left["metadata"]["query"]
    slots = int(settings_of(container_of(DEPLOYMENTS["batch"]))["PRESSROOM_WORKER_CONCURRENCY"])
    assert float(left["metadata"]["threshold"]) == 500 * slots


def test_a_pool_shrinks_no_faster_than_a_render_may_last():
    for scaled in SCALED.values():
        behavior = scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        window = behavior["scaleDown"]["stabilizationWindowSeconds"]
        assert window > float(config()["PRESSROOM_RENDER_BUDGET"])


def test_no_file_contains_a_secret():
    for file in KUBERNETES.rglob("*.yaml"):
        for document in yaml.safe_load_all(file.read_text()):
            assert document["kind"] != "Secret"
    urls = {name: value for name, value in config().items() if "URL" in name}
    assert set(urls) == {"PRESSROOM_FETCHER_URL"}  # which has no password


SHARDS = {name_of(each): each for each in documents("shards")}


@pytest.mark.parametrize("name", ["worker", "batch"])
def test_a_pool_of_another_shard_is_one_of_the_base_but_for_its_shard(name):
    pool = yaml.safe_load(yaml.safe_dump(SHARDS[f"Deployment-{name}-1"]))
    kubernetes_validate.validate(pool, VERSION, strict=True)
    env = container_of(pool)["env"]
    assert env.pop(0) == {"name": "PRESSROOM_REDIS_SHARD", "value": "1"}
    spread = pod_of(pool)["topologySpreadConstraints"][0]["labelSelector"]
    for labels in (
        pool["spec"]["selector"]["matchLabels"],
        pool["spec"]["template"]["metadata"]["labels"],
        spread["matchLabels"],
    ):
        assert labels.pop("pressroom/shard") == "1"
    base = yaml.safe_load(yaml.safe_dump(DEPLOYMENTS[name]))
    del base["spec"]["replicas"]  # the ScaledObject's
    base["metadata"]["name"] = f"{name}-1"
    assert pool == base


@pytest.mark.parametrize("name", ["worker", "batch"])
def test_each_shards_pool_is_scaled_by_its_own_queues(name):
    scaled = yaml.safe_load(yaml.safe_dump(SHARDS[f"ScaledObject-{name}-1"]))
    base = yaml.safe_load(yaml.safe_dump(SCALED[name]))
    own, plain = (
        [trigger["metadata"].pop("query") for trigger in each["spec"]["triggers"]]
        for each in (scaled, base)
    )
    asked = [[add_shard(query, shard) for query in plain] for shard in (0, 1)]
    assert own == asked[1]
    base["metadata"]["name"] = base["spec"]["scaleTargetRef"]["name"] = f"{name}-1"
    assert scaled == base
    component = yaml.safe_load((KUBERNETES / "shards/kustomization.yaml").read_text())
    [patch] = [
        yaml.safe_load(each["patch"])
        for each in component["patches"]
        if each["target"] == {"kind": "ScaledObject", "name": name}
    ]
    assert patch == [
        {"op": "replace", "path": f"/spec/triggers/{number}/metadata/query", "value": query}
        for number, query in enumerate(asked[0])
    ]


def add_shard(query, shard):
    """Return a pool's query restricted to one shard."""
    query = query.replace("documents_left)", f'documents_left{{shard="{shard}"}})')
    return re.sub(r'(queue=~?"[^"]*")', rf'\1,shard="{shard}"', query)


def apply_steps(document, patch):
    """Apply the `add` operations of a JSON patch (RFC 6902)."""
    for step in patch:
        assert step["op"] == "add"
        *way, last = [part.replace("~1", "/") for part in step["path"].split("/")[1:]]
        place = document
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if isinstance(place, list):
            place.insert(len(place) if last == "-" else int(last), step["value"])
        else:
            place[last] = step["value"]


def test_the_pools_of_the_base_become_the_first_shards():
    component = yaml.safe_load((KUBERNETES / "shards/kustomization.yaml").read_text())
    [patch] = [
        yaml.safe_load(each["patch"])
        for each in component["patches"]
        if each["target"] == {"kind": "Deployment", "name": "worker|batch"}
    ]
    pool = yaml.safe_load(yaml.safe_dump(DEPLOYMENTS["worker"]))
    apply_steps(pool, patch)
    kubernetes_validate.validate(pool, VERSION, strict=True)
    assert settings_of(container_of(pool))["PRESSROOM_REDIS_SHARD"] == "0"
    labels = pool["spec"]["template"]["metadata"]["labels"]
    assert pool["spec"]["selector"]["matchLabels"].items() <= labels.items()
    others = SHARDS["Deployment-worker-1"]["spec"]["selector"]["matchLabels"]
    assert not others.items() <= labels.items()


def test_fronts_reach_a_provider_of_sign_in_where_the_component_is_listed_and_no_private_network():
    component = yaml.safe_load((KUBERNETES / "single-sign-on/kustomization.yaml").read_text())
    [policy] = documents("single-sign-on")
    kubernetes_validate.validate(policy, VERSION, strict=True)
    chosen = policy["spec"]["podSelector"]["matchLabels"]
    reached = {
        name
        for name, each in DEPLOYMENTS.items()
        if chosen.items() <= each["spec"]["template"]["metadata"]["labels"].items()
    }
    assert reached == {"front"}
    [rule] = policy["spec"]["egress"]
    # The same addresses as those of the fetcher and webhooks, by TLS alone.
    assert rule["to"] == policies()["goes-out"]["egress"][0]["to"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 443}]
    [patch] = component["patches"]
    front = yaml.safe_load(yaml.safe_dump(DEPLOYMENTS[patch["target"]["name"]]))
    apply_steps(front, yaml.safe_load(patch["patch"]))
    kubernetes_validate.validate(front, VERSION, strict=True)
    assert container_of(front)["envFrom"][-1] == {"secretRef": {"name": "pressroom-sign-in"}}
    named = re.findall(
        r"PRESSROOM_\w+", (KUBERNETES / "single-sign-on/kustomization.yaml").read_text()
    )
    assert set(named) <= {f"PRESSROOM_{field.upper()}" for field in Settings.__dataclass_fields__}


SIGNER = {name_of(each): each for each in documents("signer")}


@pytest.mark.parametrize("name", SIGNER)
def test_a_document_of_the_signer_is_of_its_schema(name):
    kubernetes_validate.validate(SIGNER[name], VERSION, strict=True)


def test_the_signer_is_reached_by_workers_and_alone_has_the_keys_and_reaches_no_store():
    component = yaml.safe_load((KUBERNETES / "signer/kustomization.yaml").read_text())
    base = {name_of(each): each for each in documents("base")}
    for patch in component["patches"]:
        patched = base[f"{patch['target']['kind']}-{patch['target']['name']}"]
        apply_steps(patched, yaml.safe_load(patch["patch"]))
        kubernetes_validate.validate(patched, VERSION, strict=True)
    deployment = SIGNER["Deployment-signer"]
    container = container_of(deployment)
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    image = image_settings()
    assert image["PRESSROOM_SIGNER_BIND"] == f"0.0.0.0:{ports['signatures']}"
    assert image["PRESSROOM_SIGNER_METRICS_PORT"] == str(ports["metrics"])
    given = base["ConfigMap-pressroom"]["data"]["PRESSROOM_SIGNER_URL"]
    assert given == f"http://signer:{ports['signatures']}"
    [stores] = base["NetworkPolicy-stores"]["spec"]["podSelector"]["matchExpressions"]
    assert stores["values"] == ["fetcher", "signer"]
    scraped = base["NetworkPolicy-scrapes"]["spec"]["ingress"][0]["ports"]
    assert ports["metrics"] in {each["port"] for each in scraped}
    [rule] = SIGNER["NetworkPolicy-signatures"]["spec"]["ingress"]
    [rule_out] = SIGNER["NetworkPolicy-signatures-out"]["spec"]["egress"]
    [askers] = rule["from"][0]["podSelector"]["matchExpressions"]
    assert askers["values"] == ["worker", "batch"]
    assert rule["ports"] == rule_out["ports"] == [{"protocol": "TCP", "port": ports["signatures"]}]
    assert "secretRef" not in str(container)
    assert "configMapRef" not in str(container)
    holders = [name for name, each in PODS.items() if "pressroom-certificates" in str(each)]
    assert holders == []
    [volume] = [each for each in pod_of(deployment)["volumes"] if "secret" in each]
    assert volume["secret"]["secretName"] == "pressroom-certificates"


def test_the_signer_runs_as_the_fetcher_does():
    ours, fetcher = SIGNER["Deployment-signer"], DEPLOYMENTS["fetcher"]
    assert pod_of(ours)["securityContext"] == pod_of(fetcher)["securityContext"]
    for name in ("securityContext", "startupProbe", "livenessProbe", "readinessProbe"):
        assert container_of(ours)[name] == container_of(fetcher)[name]
    assert pod_of(ours)["automountServiceAccountToken"] is False
    assert importlib.util.find_spec(container_of(ours)["command"][-1])


def test_rabbitmqs_ports_are_opened_for_the_processes_that_reach_the_stores():
    component = yaml.safe_load((KUBERNETES / "rabbitmq/kustomization.yaml").read_text())
    [patch] = component["patches"]
    policies = {name_of(each): each for each in documents("base")}
    target = patch["target"]
    policy = yaml.safe_load(yaml.safe_dump(policies[f"{target['kind']}-{target['name']}"]))
    apply_steps(policy, yaml.safe_load(patch["patch"]))
    kubernetes_validate.validate(policy, VERSION, strict=True)
    ports = {each["port"] for each in policy["spec"]["egress"][0]["ports"]}
    assert ports >= {5671, 5672, 6379}
