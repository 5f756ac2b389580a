"""Tables where they live: disguised as they stream by, and counted without moving them."""
