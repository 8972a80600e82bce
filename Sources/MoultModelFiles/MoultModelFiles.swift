// MoultModelFiles. Bytes to models and back: `.xcdatamodeld`, `.momd`, the model cache of a store, Moult's versioned JSON.
