"""Stores: where reports are kept. One small interface (`base`), one back end a file."""
