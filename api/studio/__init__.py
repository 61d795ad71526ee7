"""The Studio: the web page for template authors; it uses the same API as any client."""
