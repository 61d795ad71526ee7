"""The Python client of a Pressroom farm: typed, for one thread or many, on urllib3 alone.

```python
from pressroom_client import Pressroom

farm = Pressroom("http://127.0.0.1:8000", "pr_…")
farm.render(template="service-invoice", data={"number": "2026-0043"}).save("invoice.pdf")

batch = farm.submit_batch("service-invoice", ({"number": f"2026-{n:04}"} for n in range(1000)))
farm.wait_batch(batch.id)
farm.save_result(batch.id, "invoices.zip")

made = farm.templates.create("invoice", open("invoice.xml", "rb").read())
farm.templates.publish(made.id, message="first")
```

In a program with asyncio call the methods by `asyncio.to_thread`; a farm object is safe to share.
`verify` checks the signature of what a farm sends to a webhook.

What a farm may refuse for a while (429, 503, a broken connection) is asked again as it says. Every
call that renders carries an Idempotency-Key, so a repeated one is rendered and metered once.
"""

from pressroom_client.client import Pressroom
from pressroom_client.failures import ApiError, FarmUnreachable, PressroomError
from pressroom_client.records import (
    Batch,
    BatchItem,
    Delivery,
    Document,
    Finding,
    Findings,
    Font,
    FontUsage,
    Image,
    ImageUsage,
    Job,
    Rendered,
    Slug,
    SlugState,
    Tag,
    TagEvent,
    Template,
    Version,
    Webhook,
)
from pressroom_client.webhooks import Event, SignatureError, verify

__all__ = [
    "ApiError",
    "Batch",
    "BatchItem",
    "Delivery",
    "Document",
    "Event",
    "FarmUnreachable",
    "Finding",
    "Findings",
    "Font",
    "FontUsage",
    "Image",
    "ImageUsage",
    "Job",
    "Pressroom",
    "PressroomError",
    "Rendered",
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
