#!/bin/sh
# GET /v2/authcheck, with the other key header
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/authcheck" -H "x-api-key: $PRESSROOM_KEY"
