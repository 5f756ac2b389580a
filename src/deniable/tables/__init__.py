"""Tables: numbers on named axes."""
