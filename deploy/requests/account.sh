#!/bin/sh
# GET /v2/account: plan, rate and user
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/account" -H "Authorization: Bearer $PRESSROOM_KEY"
