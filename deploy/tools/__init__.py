"""Tools for authors of documents and for building the engine's data: no process of the farm imports them."""
