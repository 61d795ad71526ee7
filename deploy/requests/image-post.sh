#!/bin/sh
# POST /v2/images: store an image sent as base64 in JSON
set -eu
name=${1:?usage: image-post.sh NAME FILE}
base64 <"$2" | tr -d "\n" | sed "s/^/{\"name\":\"$name\",\"data\":\"/; s/\$/\"}/" |
    curl -sS --fail-with-body "$PRESSROOM_URL/v2/images" -H "Authorization: Bearer $PRESSROOM_KEY" \
        -H "Content-Type: application/json" --data-binary @-
