#!/bin/sh
# GET /v2/fonts/{name}: read the record of a font
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/fonts/${1:?usage: font-read.sh NAME}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
