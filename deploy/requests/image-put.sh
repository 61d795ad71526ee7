#!/bin/sh
# PUT /v2/images/{name}: store a PNG, JPEG or WebP under a name; the format is detected from the bytes
set -eu
curl -sS --fail-with-body -X PUT "$PRESSROOM_URL/v2/images/${1:?usage: image-put.sh NAME FILE}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: image/png" \
    --data-binary "@$2"
