#!/bin/sh
# GET /v2/jobs/{id}/pdf; writes document.pdf
set -eu
curl -sS --fail-with-body -o document.pdf "$PRESSROOM_URL/v2/jobs/${1:?usage: job-pdf.sh JOB_ID}/pdf" \
    -H "Authorization: Bearer $PRESSROOM_KEY" || {
    cat document.pdf >&2 # the error body
    exit 1
}
