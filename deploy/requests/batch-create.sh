#!/bin/sh
# POST /v2/batches: render many documents, a JSON object a line or a CSV row each
set -eu
type=text/csv
case "${2:?usage: batch-create.sh TEMPLATE DATA.ndjson|DATA.csv [files|zip|merged]}" in
    *.ndjson) type=application/x-ndjson ;;
esac
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/batches?template=$1&output=${3:-zip}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: $type" -T "$2"
