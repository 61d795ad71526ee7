#!/bin/sh
# DELETE /v2/webhooks/{webhook_id}: delete a webhook
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/webhooks/${1:?usage: webhook-delete.sh ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
