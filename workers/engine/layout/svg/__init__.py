"""SVG: a bounded reader and a converter onto the operators of PDF, so that drawings stay vectors."""
