#!/bin/sh
# GET /v2/fonts: the fonts of the workspace, by name, and what it holds
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/fonts?limit=${1:-100}" -H "Authorization: Bearer $PRESSROOM_KEY"
