#!/bin/sh
# GET /v2/batches/{batch_id}/items: list the documents and their statuses
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/batches/${1:?usage: batch-items.sh ID}/items" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
