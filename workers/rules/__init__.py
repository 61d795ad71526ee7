"""Rule packs are run in a process of their own, which a worker starts when an invoice is checked."""
