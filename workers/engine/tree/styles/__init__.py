"""Styles: the user-agent style sheet, declared styles, the cascade, and computed values."""
