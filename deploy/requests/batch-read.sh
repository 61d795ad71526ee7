#!/bin/sh
# GET /v2/batches/{batch_id}: read a batch, waiting up to a minute for its end
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/batches/${1:?usage: batch-read.sh ID [SECONDS]}?wait=${2:-60}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
