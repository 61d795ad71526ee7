"""Stage four: a document becomes pages of placed items."""
