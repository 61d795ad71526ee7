#!/bin/sh
# GET /v2/images/{name}: read the record of an image
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/images/${1:?usage: image-read.sh NAME}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
