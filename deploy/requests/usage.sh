#!/bin/sh
# GET /v2/account/usage: usage of the current billing period or that of a date
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/account/usage${1:+?date=$1}" -H "Authorization: Bearer $PRESSROOM_KEY"
