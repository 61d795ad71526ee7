#!/bin/sh
# GET /v2/images: list the images of the workspace by name, with their total size
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/images?limit=${1:-100}" -H "Authorization: Bearer $PRESSROOM_KEY"
