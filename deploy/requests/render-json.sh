#!/bin/sh
# POST /v2/pdf with JSON data into a stored template; writes document.pdf
set -eu
curl -sS --fail-with-body -o document.pdf "$PRESSROOM_URL/v2/pdf?template=${1:?usage: render-json.sh TEMPLATE DATA.json}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data-binary "@$2" || {
    cat document.pdf >&2 # the error body
    exit 1
}
