"""Electronic invoices by EN 16931: business terms, syntaxes and rules, independent of documents."""
