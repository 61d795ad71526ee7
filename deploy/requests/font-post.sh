#!/bin/sh
# POST /v2/fonts: store a font sent as base64 in JSON
set -eu
name=${1:?usage: font-post.sh NAME FILE}
base64 <"$2" | tr -d "\n" | sed "s/^/{\"name\":\"$name\",\"data\":\"/; s/\$/\"}/" |
    curl -sS --fail-with-body "$PRESSROOM_URL/v2/fonts" -H "Authorization: Bearer $PRESSROOM_KEY" \
        -H "Content-Type: application/json" --data-binary @-
