#!/bin/sh
# GET /v2/batches/{batch_id}/result: download the zip or the merged PDF
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/batches/${1:?usage: batch-result.sh ID FILE}/result" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -o "$2"
