#!/bin/sh
# POST /v2/batches: render many documents, one JSON object per line, a JSON array of them, or one CSV row each
set -eu
type=text/csv
case "${2:?usage: batch-create.sh TEMPLATE DATA.ndjson|DATA.json|DATA.csv [files|zip|merged]}" in
    *.ndjson) type=application/x-ndjson ;;
    *.json) type=application/json ;;
esac
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/batches?template=$1&output=${3:-zip}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: $type" -T "$2"
