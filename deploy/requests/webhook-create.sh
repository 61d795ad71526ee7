#!/bin/sh
# POST /v2/webhooks: be told of the ends of jobs and batches; prints the secret, once
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/webhooks" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"url\": \"${1:?usage: webhook-create.sh URL}\"}"
