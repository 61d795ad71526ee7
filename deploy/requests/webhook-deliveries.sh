#!/bin/sh
# GET /v2/webhooks/{webhook_id}/deliveries: list a webhook's deliveries
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-deliveries.sh ID}/deliveries" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
