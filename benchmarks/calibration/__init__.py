"""Whether tests hold their level, and intervals and errors what they promise."""
