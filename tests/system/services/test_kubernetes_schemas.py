"""What the chart gives to KEDA and to a gateway is of their own schemas, and asks Prometheus what it can answer."""

import copy
import json
import subprocess

import pytest

from tests.deploy.deployment import documents

CHECK = """
import { readFileSync } from 'node:fs';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
const kinds = { ScaledObject, HTTPRoute };
for (const each of JSON.parse(readFileSync(0, 'utf8'))) new kinds[each.kind](each).validate();
"""
SCALED = [
    each
    for shards in (1, 2)
    for each in documents("ScaledObject", json.dumps({"shards": shards})).values()
]


def is_valid(schemas, found):
    (schemas / "check.mjs").write_text(CHECK)
    return not subprocess.run(
        ["node", "check.mjs"], cwd=schemas, input=json.dumps(found), text=True, check=False
    ).returncode


def test_the_pools_hold_against_kedas_schema_and_a_wrong_one_does_not(schemas):
    assert is_valid(schemas, SCALED)
    wrong = copy.deepcopy(SCALED[:1])
    wrong[0]["spec"]["maxReplicaCount"] = "many"
    assert not is_valid(schemas, wrong)


def test_the_route_holds_against_the_gateways_schema_and_a_wrong_one_does_not(schemas):
    route = documents("HTTPRoute", json.dumps({"gateway": {"enabled": True}}))["pressroom"]
    assert is_valid(schemas, [route])
    wrong = copy.deepcopy(route)
    wrong["spec"]["rules"][0]["timeouts"]["request"] = "ages"
    assert not is_valid(schemas, [wrong])


@pytest.mark.parametrize("each", SCALED, ids=lambda each: each["metadata"]["name"])
def test_the_scaling_query_of_a_pool_is_valid_promql(each, tmp_path):
    rules = [
        {"record": f"pool:asked{number}", "expr": trigger["metadata"]["query"]}
        for number, trigger in enumerate(each["spec"]["triggers"])
    ]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", str(file)], check=True, capture_output=True)
