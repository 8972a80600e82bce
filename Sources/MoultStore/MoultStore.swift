// MoultStore. What a store looks like inside: its layout, looking at it, making a fresh one, lowering a plan to statements.
