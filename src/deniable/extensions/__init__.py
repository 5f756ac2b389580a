"""The protocol and its registry: which design or channel kind brings which extension, loaded on demand."""
