"""Stage four: lay out a document as pages of positioned items."""
