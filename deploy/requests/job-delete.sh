#!/bin/sh
# DELETE /v2/jobs/{id}: cancel a job, or remove one that has ended
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/jobs/${1:?usage: job-delete.sh JOB_ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
