#!/bin/sh
# DELETE /v2/batches/{batch_id}: cancel a batch, or remove one that has ended
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/batches/${1:?usage: batch-cancel.sh ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
