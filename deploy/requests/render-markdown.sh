#!/bin/sh
# POST /v2/pdf with Markdown into a flow of a stored template; writes document.pdf
set -eu
curl -sS --fail-with-body -o document.pdf \
    "$PRESSROOM_URL/v2/pdf?template=${1:?usage: render-markdown.sh TEMPLATE TEXT.md [FLOW]}&flow=${3:-body}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: text/markdown" \
    --data-binary "@$2" || {
    cat document.pdf >&2 # the error body
    exit 1
}
