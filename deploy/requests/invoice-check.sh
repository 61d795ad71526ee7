#!/bin/sh
# POST /v2/einvoices/check: check a received electronic invoice
set -eu
invoice=${1:?usage: invoice-check.sh INVOICE.pdf|INVOICE.xml}
case $invoice in
*.pdf) type=application/pdf ;;
*) type=application/xml ;;
esac
curl -sS --fail-with-body "$PRESSROOM_URL/v2/einvoices/check" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: $type" --data-binary "@$invoice"
