"""The version of the package: here alone, read by the build and by whoever asks."""

__version__ = "0.1.0"
