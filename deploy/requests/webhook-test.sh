#!/bin/sh
# POST /v2/webhooks/{webhook_id}/test: send a webhook a test delivery
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-test.sh ID}/test" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
