#!/bin/sh
# POST /v2/pdf with CSV rows into a stored template; writes document.pdf
set -eu
curl -sS --fail-with-body -o document.pdf "$PRESSROOM_URL/v2/pdf?template=${1:?usage: render-csv.sh TEMPLATE ROWS.csv}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: text/csv; charset=utf-8" \
    --data-binary "@$2" || {
    cat document.pdf >&2 # the error body
    exit 1
}
