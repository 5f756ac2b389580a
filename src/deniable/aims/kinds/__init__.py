"""Every file of this folder is a wanted number of its own: its rows, its text, what tells it."""
