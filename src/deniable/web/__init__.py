"""The collector over HTTP, and the pages beside it."""
