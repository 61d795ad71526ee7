"""The Helm chart holds against Kubernetes' schemas, the code, and itself, whatever is switched on."""

from __future__ import annotations

import json
import re
from itertools import product

import helm_python
import kubernetes_validate
import pytest
from helm_python import HelmError

from api.app import describe_api
from shared.queue.names import QUEUES
from shared.settings import Settings, load_settings
from shared.telemetry import metrics
from tests.deploy.deployment import (
    CHART,
    PROCESSES,
    assert_command_exists,
    chart,
    config,
    container_of,
    documents,
    image_settings,
    pod_of,
    settings_of,
)

VERSIONS = ("1.29", "1.33", "1.37")
DEPLOYMENTS = documents("Deployment")
MIGRATE = documents("Job")["migrate"]
INGRESS = documents("Ingress")["pressroom"]
SCALED = documents("ScaledObject")
PODS = {**DEPLOYMENTS, "migrate": MIGRATE}
STOP_MARGIN_SECONDS = 10
SWITCHES = (
    "signer", "singleSignOn", "rabbitmq", "scaling", "ingress", "gateway", "network", "migrate",
)  # fmt: skip
OF_OTHERS = {"ScaledObject", "HTTPRoute"}  # whose own schemas need npm: tests/system/services
COMBINATIONS = [
    json.dumps(
        {"shards": shards}
        | {name: {"enabled": on} for name, on in zip(SWITCHES, chosen, strict=True)}
    )
    for shards in (1, 3)
    for chosen in product((False, True), repeat=len(SWITCHES))
]
ALL = COMBINATIONS[-1]


def name_of(document):
    return f"{document['kind']}-{document['metadata']['name']}"


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_every_document_is_of_its_schema(version):
    for document in chart(ALL) + chart():
        if document["kind"] not in OF_OTHERS:
            kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.long
def test_every_combination_of_switches_renders_valid_documents():
    seen = set()
    for values in COMBINATIONS:
        rendered = chart(values)
        names = list(map(name_of, rendered))
        assert len(names) == len(set(names))
        for document in rendered:
            text = json.dumps(document, sort_keys=True)
            if text in seen or document["kind"] in OF_OTHERS:
                continue
            seen.add(text)
            kubernetes_validate.validate(document, "1.33", strict=True)


def test_helm_finds_nothing_to_say_about_the_chart():
    told = helm_python.lint(CHART, json.loads(ALL), strict=True)
    assert [each for each in told["messages"] if each["severity"] > 1] == told["errors"] == []


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"worker": {"slots": 0}}, "slots"),
        ({"worker": {"memory": "4Gi"}}, "memory"),
        ({"settings": {"RENDER_BUDGET": "60"}}, "RENDER_BUDGET"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"network": {"stores": ["10.0.0.1"]}}, "stores"),
        ({"counter": {"replicas": 2}}, "replicas"),
        ({"singelSignOn": {"enabled": True}}, "singelSignOn"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(values, named):
    with pytest.raises(HelmError, match=named):
        chart(json.dumps(values))


def test_every_process_of_a_farm_is_deployed():
    assert set(DEPLOYMENTS) == set(PROCESSES)


def test_an_image_is_named_by_its_digest_where_one_is_given():
    digest = f"sha256:{'0' * 64}"
    for values, image in (
        ({"image": {"digest": digest}}, f"pressroom@{digest}"),
        ({"image": {"repository": "r.example/pressroom", "tag": "2"}}, "r.example/pressroom:2"),
        ({}, "pressroom:1.0.0"),
    ):
        deployments = documents("Deployment", json.dumps(values))
        assert {container_of(each)["image"] for each in deployments.values()} == {image}


def test_operators_have_a_port_of_their_own_where_one_is_set():
    settings = {"PRESSROOM_ADMIN_PORT": "8001"}
    front = container_of(documents("Deployment", json.dumps({"settings": settings}))["front"])
    assert {each["containerPort"] for each in front["ports"]} == {8000, 8001}
    assert "0.0.0.0:8001" in front["command"]
    assert settings_of(front).get("PRESSROOM_ADMIN_PORT", "8001") == "8001"


def test_a_release_migrates_before_its_pods_start():
    hooks = MIGRATE["metadata"]["annotations"]
    assert hooks["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert hooks["helm.sh/hook-delete-policy"] == "before-hook-creation"  # a Job is immutable


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
    assert_command_exists(container_of(PODS[name])["command"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_setting_of_a_pod_is_one(name):
    given = {**image_settings(), **config(), **settings_of(container_of(DEPLOYMENTS[name]))}
    known = {f"PRESSROOM_{field.upper()}" for field in Settings.__dataclass_fields__}
    assert set(given) <= known
    urls = {"DATABASE_URL": "sqlite:////x", "REDIS_URL": "redis://x", "BLOB_URL": "file:///x"}
    load_settings(given | {f"PRESSROOM_{key}": value for key, value in urls.items()})


@pytest.mark.parametrize("budget", ["60", "600"])
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_stopping_pod_has_time_to_finish_running_renders(name, budget):
    values = json.dumps({"settings": {"PRESSROOM_RENDER_BUDGET": budget}})
    deployment = documents("Deployment", values)[name]
    pod, container = pod_of(deployment), container_of(deployment)
    before = (
        container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [0, 0])
    )
    works = 5.0 if name in {"counter", "maintenance"} else 30.0
    if name in {"front", "worker", "batch"}:
        works = float(config(values)["PRESSROOM_RENDER_BUDGET"]) + 5
    needed = int(before[1]) + works + STOP_MARGIN_SECONDS
    assert pod["terminationGracePeriodSeconds"] >= needed


@pytest.mark.long
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_probes_and_services_use_the_port_that_the_process_has(name):
    container = container_of(DEPLOYMENTS[name])
    probed = container["livenessProbe"]["httpGet"]["port"]
    [port] = [each for each in container["ports"] if each["name"] == probed]
    variables = {"batch": "WORKER", "maintenance": "MAINTENANCE", "webhooks": "WEBHOOKS"}
    named = variables.get(name, name.upper())
    expected = 8000 if name == "front" else int(image_settings()[f"PRESSROOM_{named}_METRICS_PORT"])
    assert port["containerPort"] == expected
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
    service = documents("Service")[name]
    assert service["spec"]["clusterIP"] == "None"  # each replica by its address, for Prometheus
    assert expected in {each["port"] for each in service["spec"]["ports"]}
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


@pytest.mark.parametrize(("slots", "mb"), [(2, 1024), (8, 700)])
def test_the_memory_limit_of_a_worker_covers_its_children(slots, mb):
    values = json.dumps({"worker": {"slots": slots, "childMemoryMb": mb}})
    container = container_of(documents("Deployment", values)["worker"])
    settings = settings_of(container)
    assert settings["PRESSROOM_WORKER_CONCURRENCY"] == str(slots)
    assert settings["PRESSROOM_CHILD_MEMORY_MB"] == str(mb)
    limit = container["resources"]["limits"]["memory"]
    assert int(limit.removesuffix("Mi")) >= slots * mb * 1.25


def test_there_is_one_counter_even_while_it_is_replaced():
    counter = DEPLOYMENTS["counter"]["spec"]
    assert (counter["replicas"], counter["strategy"]) == (1, {"type": "Recreate"})


def test_those_that_serve_and_render_are_not_all_taken_at_once():
    budgets = {name: each["spec"] for name, each in documents("PodDisruptionBudget").items()}
    assert set(budgets) == {"front", "worker", "batch", "fetcher"}
    for name, budget in budgets.items():
        assert budget["maxUnavailable"] == 1
        labels = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]
        assert budget["selector"]["matchLabels"].items() <= labels.items()


def policies(values="{}"):
    return {name: each["spec"] for name, each in documents("NetworkPolicy", values).items()}


def test_only_documented_ports_are_open():
    assert policies()["closed"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    ports = {
        rule["port"]
        for policy in ("requests", "scrapes")
        for way in policies()[policy]["ingress"]
        for rule in way["ports"]
    }
    assert ports == {
        port["containerPort"]
        for each in DEPLOYMENTS.values()
        for port in container_of(each)["ports"]
        if port["name"] in ("http", "metrics")
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


def paths_of_the_route():
    route = documents("HTTPRoute", json.dumps({"gateway": {"enabled": True}}))["pressroom"]
    return [each["path"]["value"] for each in route["spec"]["rules"][0]["matches"]]


@pytest.mark.parametrize("paths", [
    [path["path"] for path in INGRESS["spec"]["rules"][0]["http"]["paths"]],
    paths_of_the_route(),
], ids=["ingress", "gateway"])  # fmt: skip
def test_every_path_of_the_interface_is_public_and_the_operators_are_not(paths):
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
    budget = float(config()["PRESSROOM_RENDER_BUDGET"])
    assert float(annotations[f"{prefix}proxy-read-timeout"]) > budget + 5


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


def test_the_chart_contains_no_secret():
    assert "Secret" not in {document["kind"] for document in chart(ALL)}
    urls = {name: value for name, value in config().items() if "URL" in name}
    assert set(urls) == {"PRESSROOM_FETCHER_URL"}  # which has no password


def test_pools_that_scale_have_no_number_and_others_have():
    for name, each in DEPLOYMENTS.items():
        assert ("replicas" in each["spec"]) is (name not in SCALED)
    fixed = documents("Deployment", json.dumps({"scaling": {"enabled": False}}))
    assert all(each["spec"]["replicas"] >= 1 for each in fixed.values())


SHARDS = json.dumps({"shards": 3})


def test_each_shard_has_pools_of_its_own_and_each_is_scaled_by_its_own_queues():
    pools = documents("Deployment", SHARDS)
    scaled = documents("ScaledObject", SHARDS)
    selectors = []
    for pool in ("worker", "batch"):
        for shard, name in enumerate((pool, f"{pool}-1", f"{pool}-2")):
            spec = pools[name]["spec"]
            assert settings_of(container_of(pools[name]))["PRESSROOM_REDIS_SHARD"] == str(shard)
            chosen = spec["selector"]["matchLabels"]
            assert chosen.items() <= spec["template"]["metadata"]["labels"].items()
            selectors.append(tuple(chosen.items()))
            assert scaled[name]["spec"]["scaleTargetRef"] == {"name": name}
            for trigger in scaled[name]["spec"]["triggers"]:
                query = trigger["metadata"]["query"]
                assert query.count("pressroom_") == query.count(f'shard="{shard}"')
    assert len(set(selectors)) == 6
    assert "shard" not in str([each["spec"]["triggers"] for each in SCALED.values()])


def test_a_pod_with_other_settings_is_another_pod():
    changed = documents("Deployment", json.dumps({"settings": {"PRESSROOM_LOG_LEVEL": "DEBUG"}}))
    one, other = (each["front"]["spec"]["template"]["metadata"] for each in (DEPLOYMENTS, changed))
    assert one["annotations"] != other["annotations"]


def test_fronts_reach_a_provider_of_sign_in_where_it_is_on_and_no_private_network():
    values = json.dumps({"singleSignOn": {"enabled": True}})
    chosen = policies(values)["sign-in"]["podSelector"]["matchLabels"]
    deployments = documents("Deployment", values)
    reached = {
        name
        for name, each in deployments.items()
        if chosen.items() <= each["spec"]["template"]["metadata"]["labels"].items()
    }
    assert reached == {"front"}
    [rule] = policies(values)["sign-in"]["egress"]
    # The same addresses as those of the fetcher and webhooks, by TLS alone.
    assert rule["to"] == policies()["goes-out"]["egress"][0]["to"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 443}]
    holders = {name for name, each in deployments.items() if "pressroom-sign-in" in str(each)}
    assert holders == {"front"}
    assert "sign-in" not in policies()


def test_the_signer_is_reached_by_workers_and_alone_has_the_keys_and_reaches_no_store():
    values = json.dumps({"signer": {"enabled": True}})
    deployments = documents("Deployment", values)
    deployment = deployments["signer"]
    container = container_of(deployment)
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    image = image_settings()
    assert image["PRESSROOM_SIGNER_BIND"] == f"0.0.0.0:{ports['signatures']}"
    assert image["PRESSROOM_SIGNER_METRICS_PORT"] == str(ports["metrics"])
    assert config(values)["PRESSROOM_SIGNER_URL"] == f"http://signer:{ports['signatures']}"
    rules = policies(values)
    [stores] = rules["stores"]["podSelector"]["matchExpressions"]
    assert stores["values"] == ["fetcher", "signer"]
    assert ports["metrics"] in {each["port"] for each in rules["scrapes"]["ingress"][0]["ports"]}
    [rule], [rule_out] = rules["signatures"]["ingress"], rules["signatures-out"]["egress"]
    [askers] = rule["from"][0]["podSelector"]["matchExpressions"]
    assert askers["values"] == ["worker", "batch"]
    assert rule["ports"] == rule_out["ports"] == [{"protocol": "TCP", "port": ports["signatures"]}]
    assert "secretRef" not in str(container)
    assert "configMapRef" not in str(container)
    holders = {name for name, each in deployments.items() if "pressroom-certificates" in str(each)}
    assert holders == {"signer"}
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert "pressroom/goes-out" not in labels


def test_a_signer_that_asks_for_time_stamps_reaches_the_internet():
    values = json.dumps({"signer": {"enabled": True, "timestampUrl": "https://tsa.example"}})
    signer = documents("Deployment", values)["signer"]
    assert signer["spec"]["template"]["metadata"]["labels"]["pressroom/goes-out"] == "true"
    settings = settings_of(container_of(signer))
    assert settings["PRESSROOM_SIGNER_TIMESTAMP_URL"] == "https://tsa.example"


def test_temporary_files_are_in_memory_where_nothing_may_be_stored():
    for on in (False, True):
        for pod in map(
            pod_of, documents("Deployment", json.dumps({"noStorage": {"enabled": on}})).values()
        ):
            [tmp] = [each["emptyDir"] for each in pod["volumes"] if each["name"] == "tmp"]
            assert ("medium" in tmp) is on


def test_rabbitmqs_ports_are_opened_for_the_processes_that_reach_the_stores():
    values = json.dumps({"rabbitmq": {"enabled": True}})
    ports = {each["port"] for each in policies(values)["stores"]["egress"][0]["ports"]}
    assert ports >= {5671, 5672, 6379}
    assert 5672 not in {each["port"] for each in policies()["stores"]["egress"][0]["ports"]}


def test_a_store_at_a_public_address_is_reached_where_it_is_listed():
    values = json.dumps({"network": {"stores": ["10.1.0.0/16", "203.0.113.0/24"]}})
    listed = [to["ipBlock"]["cidr"] for to in policies(values)["stores"]["egress"][0]["to"]]
    assert listed == ["10.1.0.0/16", "203.0.113.0/24"]


def test_names_are_asked_of_the_cluster_and_of_a_cache_on_the_node():
    [rule] = policies()["names"]["egress"]
    assert {"ipBlock": {"cidr": "169.254.20.10/32"}} in rule["to"]
    assert {each["port"] for each in rule["ports"]} == {53}
