#!/bin/sh
# PUT /v2/fonts/{name}: store a TrueType, OpenType or WOFF2 font under a name; the format is detected from the bytes
set -eu
curl -sS --fail-with-body -X PUT "$PRESSROOM_URL/v2/fonts/${1:?usage: font-put.sh NAME FILE}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: font/sfnt" \
    --data-binary "@$2"
