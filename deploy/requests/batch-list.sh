#!/bin/sh
# GET /v2/batches: the batches of the account, newest first, optionally those of one status
set -eu
curl -sS --fail-with-body -G "$PRESSROOM_URL/v2/batches" ${1:+--data-urlencode "status=$1"} \
    -H "Authorization: Bearer $PRESSROOM_KEY"
