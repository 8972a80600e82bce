import TestSupport

/// The random numbers of generated histories.
typealias HistoryRandom = SeededGenerator
