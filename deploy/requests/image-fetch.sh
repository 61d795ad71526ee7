#!/bin/sh
# POST /v2/images: store an image that the service fetches from an address
set -eu
name=${1:?usage: image-fetch.sh NAME URL}
url=${2:?usage: image-fetch.sh NAME URL}
curl -sS --fail-with-body "$PRESSROOM_URL/v2/images" -H "Authorization: Bearer $PRESSROOM_KEY" \
    -H "Content-Type: application/json" -d "{\"name\":\"$name\",\"source_url\":\"$url\"}"
