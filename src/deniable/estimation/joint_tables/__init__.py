"""Tables of attributes that were not asked together."""
