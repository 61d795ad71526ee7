#!/bin/sh
# GET /v2/webhooks: list the webhooks
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/webhooks" -H "Authorization: Bearer $PRESSROOM_KEY"
