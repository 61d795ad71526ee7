#!/bin/sh
# POST /v2/webhooks/{webhook_id}/rotate: rotate a webhook's secret
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-rotate.sh ID}/rotate" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
