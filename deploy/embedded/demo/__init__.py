"""The demo: a temporary farm that renders four kinds of documents and shows the time they take."""
