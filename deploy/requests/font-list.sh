#!/bin/sh
# GET /v2/fonts: list the fonts of the workspace by name, with their total size
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/fonts?limit=${1:-100}" -H "Authorization: Bearer $PRESSROOM_KEY"
