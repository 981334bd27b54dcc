"""The world: durable lines, keys, heads, indexes, and everything else that touches the disk."""
