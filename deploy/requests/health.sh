#!/bin/sh
# GET /healthz, /readyz and /metrics, without a key
set -eu
for path in healthz readyz metrics; do
    curl -sS --fail-with-body "$PRESSROOM_URL/$path"
    echo
done
