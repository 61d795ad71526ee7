#!/bin/sh
# GET /v2/jobs: the jobs of the account, newest first, optionally those of one status
set -eu
curl -sS --fail-with-body -G "$PRESSROOM_URL/v2/jobs" ${1:+--data-urlencode "status=$1"} \
    -H "Authorization: Bearer $PRESSROOM_KEY"
