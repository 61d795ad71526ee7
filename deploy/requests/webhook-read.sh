#!/bin/sh
# GET /v2/webhooks/{webhook_id}: read a webhook
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-read.sh ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
