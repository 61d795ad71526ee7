#!/bin/sh
# POST /v2/pdf with a complete document; writes document.pdf
set -eu
curl -sS --fail-with-body -o document.pdf "$PRESSROOM_URL/v2/pdf?draft=${DRAFT:-false}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/xml" \
    --data-binary "@${1:?usage: render-xml.sh DOCUMENT.xml}" || {
    cat document.pdf >&2 # the error body
    exit 1
}
