// MoultPropertyList. Property lists, keyed archives and raw DEFLATE: bounded and hostile-proof, because a store's bytes are nobody's promise.
