#!/bin/sh
# POST /v2/webhooks/{webhook_id}/rotate: give a webhook a new secret
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-rotate.sh ID}/rotate" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
