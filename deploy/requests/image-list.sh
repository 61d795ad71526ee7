#!/bin/sh
# GET /v2/images: the images of the workspace, by name, and what it holds
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/images?limit=${1:-100}" -H "Authorization: Bearer $PRESSROOM_KEY"
