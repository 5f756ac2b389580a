"""What travels: bytes, messages, HTTP, admission."""
