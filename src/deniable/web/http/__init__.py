"""What any ASGI server needs, and nothing of surveys."""
