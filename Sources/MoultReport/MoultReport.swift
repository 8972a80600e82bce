// MoultReport. Values to words: text and versioned JSON.
