#!/bin/sh
# GET /v2/account/usage/templates: usage by template, of the current billing period or that of a date
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/account/usage/templates${1:+?date=$1}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
