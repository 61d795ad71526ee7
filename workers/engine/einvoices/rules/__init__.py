"""The business rules of EN 16931 as tables of identifier, scope, message and condition."""
