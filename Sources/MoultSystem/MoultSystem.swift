// MoultSystem. The one seam to the machine: files, sync, clone, links, locks, free space, clock, temporary names. Fault tests replace it.
