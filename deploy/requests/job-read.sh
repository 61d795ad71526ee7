#!/bin/sh
# GET /v2/jobs/{id}: read a job, waiting up to a minute for its end
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/jobs/${1:?usage: job-read.sh JOB_ID}?wait=60" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
