#!/bin/sh
# GET /v2/account/usage: of the current period, or of the one a day lies in
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/account/usage${1:+?date=$1}" -H "Authorization: Bearer $PRESSROOM_KEY"
