"""The Python client of a Pressroom farm: typed and thread-safe; its only dependency is urllib3.

```python
from pressroom_client import Pressroom

farm = Pressroom("http://127.0.0.1:8000", "pr_…")
invoice = json.load(open("service-invoice.json"))
farm.render(template="service-invoice", data=invoice).save("invoice.pdf")

batch = farm.submit_batch("service-invoice", ({**invoice, "number": f"2026-{n:04}"} for n in range(1000)))
farm.wait_batch(batch.id)
farm.save_result(batch.id, "invoices.zip")

made = farm.templates.create("invoice", open("invoice.xml", "rb").read())
farm.templates.publish(made.id, message="first")
```

With asyncio, call the methods with `asyncio.to_thread`. `verify` checks the signature of a webhook
delivery.

Requests are retried after 429, 503 and connection errors, with the delay of `Retry-After`. Every render
request has an Idempotency-Key, so that a retry is rendered and metered once; a POST without one is not
sent again when its answer was lost.
"""

from pressroom_client.client import Pressroom
from pressroom_client.records import Batch, Document, FontUsage, ImageUsage, Job, Rendered
from pressroom_client.schemas import (
    BatchItem,
    Delivery,
    Dependent,
    Destination,
    FieldOption,
    Finding,
    Findings,
    Font,
    FormField,
    FormReport,
    Image,
    InvoiceFinding,
    InvoiceReport,
    Key,
    Preview,
    PreviewBox,
    PreviewFile,
    RulePack,
    Slug,
    SlugState,
    Tag,
    TagEvent,
    Template,
    Version,
    Webhook,
)
from pressroom_client.transport import ApiError, ErrorKind, FarmUnreachable, PressroomError
from pressroom_client.webhooks import Event, SignatureError, verify

__all__ = [
    "ApiError",
    "Batch",
    "BatchItem",
    "Delivery",
    "Dependent",
    "Destination",
    "Document",
    "ErrorKind",
    "Event",
    "FarmUnreachable",
    "FieldOption",
    "Finding",
    "Findings",
    "Font",
    "FontUsage",
    "FormField",
    "FormReport",
    "Image",
    "ImageUsage",
    "InvoiceFinding",
    "InvoiceReport",
    "Job",
    "Key",
    "Pressroom",
    "PressroomError",
    "Preview",
    "PreviewBox",
    "PreviewFile",
    "Rendered",
    "RulePack",
    "SignatureError",
    "Slug",
    "SlugState",
    "Tag",
    "TagEvent",
    "Template",
    "Version",
    "Webhook",
    "verify",
]
