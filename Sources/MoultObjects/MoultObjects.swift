// MoultObjects. The one object layer over a store, and the only writer of rows.
