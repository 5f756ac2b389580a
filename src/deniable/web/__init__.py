"""The collector over HTTP, and the pages that will stand beside it."""
