import CSQLite

extension Connection {
    /// Has SQLite keep no account of its memory, for which every allocation of every thread waits at one lock: a
    /// migration and the proof of its backup, side by side, wait for each other often.
    ///
    /// It holds for the whole process, in which `sqlite3_memory_used` and heap limits mean nothing then: only a program
    /// may ask for it, never a library. Once a connection was opened, it has no effect.
    package static func keepNoMemoryStatistics() { _ = moult_sqlite_keep_no_memory_statistics() }
}
