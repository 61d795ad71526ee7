"""Limits of the interface."""

from typing import Final

KB: Final = 1024
MB: Final = 1024 * KB
GB: Final = 1024 * MB

# Of a template that extends or imports others; the engine accepts fewer, and reports more.
MAX_LINKED_TEMPLATES: Final = 64
MAX_REFERENCE: Final = 200  # characters of a link that can name a template
MAX_LINKED_BYTES: Final = 8 * MB
MAX_BODY_BYTES: Final = 32 * MB  # by default: PRESSROOM_BODY_MB
MAX_IMAGE_BYTES: Final = 50 * MB
REMOTE_IMAGE_SECONDS: Final = 10.0  # one image fetched from its address
MAX_REMOTE_IMAGES: Final = 50  # addresses that one document may name
MAX_REMOTE_BYTES: Final = 128 * MB  # fetched for one document, in total
MAX_WARNING_CODES: Final = 10  # listed for a render in its record and headers
MAX_WARNING_TEXT: Final = 200  # characters of each warning's message
MAX_WORKSPACE_BYTES: Final = 1 * GB
MAX_WORKSPACE_IMAGES: Final = 1000
MAX_INVOICE_BYTES: Final = 20 * MB  # of an invoice that is checked; the engine has the same limit
MAX_FORM_BYTES: Final = 20 * MB  # of a PDF whose form fields are read
MAX_SPREADSHEET_BYTES: Final = 20 * MB  # of an XLSX that is converted to CSV
MAX_SIGNED_BYTES: Final = 64 * MB  # of a PDF that the signer signs
MAX_FONT_BYTES: Final = 20 * MB
MAX_WORKSPACE_FONT_BYTES: Final = 256 * MB
MAX_WORKSPACE_FONTS: Final = 200

# The rate of accounts without their own, by plan
DEFAULT_RATES: Final = {"free": "20/second", "paid": "500/second"}

INLINE_BODY_BYTES: Final = 64 * KB  # above it a message carries a claim, not the body
REDIS_BODY_BYTES: Final = 4 * MB  # larger bodies are claimed from the blob store, not from Redis
REPLY_TTL_SECONDS: Final = 120  # time to live of an outcome that was not fetched
STATE_TTL_SECONDS: Final = 2 * 24 * 3600  # of a job's state: longer than its message may be queued

MAX_JSON_DEPTH: Final = 100
MAX_CSV_COLUMNS: Final = 500

# By default: PRESSROOM_BATCH_DOCUMENTS, PRESSROOM_BATCH_MB
MAX_BATCH_DOCUMENTS: Final = 100_000
MAX_BATCH_BYTES: Final = 512 * MB
MAX_BATCH_ROW: Final = 1 * MB  # of a row of a CSV or grouped batch, which is held in memory
MAX_GROUPED_ROWS: Final = 1_000_000  # of a batch whose rows are grouped into documents
MAX_DELIVERIES: Final = 2  # a job that kills its worker twice is failed, not retried
