"""The analyst's pages."""
