#!/bin/sh
# POST /v2/validate: validate a document, or data for TEMPLATE
set -eu
document=${1:?usage: validate.sh DOCUMENT.xml|DATA.json [TEMPLATE]}
case $document in
*.json) type=application/json ;;
*.csv) type=text/csv ;;
*.md) type=text/markdown ;;
*) type=application/xml ;;
esac
curl -sS --fail-with-body "$PRESSROOM_URL/v2/validate${2:+?template=$2}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: $type" --data-binary "@$document"
