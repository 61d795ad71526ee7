#!/bin/sh
# POST /v2/webhooks: create a webhook for jobs and batches; prints the secret, which is returned only here
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/webhooks" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"url\": \"${1:?usage: webhook-create.sh URL}\"}"
