/// One call of SQLite's to the file system, for a file below a folder that is watched.
package struct FileCall {
    package enum Operation: Sendable, Hashable {
        case open
        /// `bytes` at `offset`.
        case write(offset: Int64)
        /// To so many bytes.
        case truncate(size: Int64)
        case sync
        /// With the folder synchronised too where SQLite asks for it.
        case delete(syncsFolder: Bool)
        case lock
        /// A part of the WAL's index is mapped or locked.
        case shm
        /// A read, or a question; a file system that has died answers none.
        case read
    }

    package let operation: Operation
    package let path: String
    /// The bytes to write; empty for other operations, and valid during the call only.
    package let bytes: UnsafeRawBufferPointer
    /// Whether the file is a rollback journal or a WAL, whose folder SQLite synchronises with its first sync.
    package let isJournal: Bool

    /// The answer that a call gets instead of what it asked for.
    package enum Answer: Sendable, Hashable {
        /// SQLite's own default VFS does it.
        case pass
        /// It counts as done and is not done.
        case pretend
        case fail(Failure)
    }

    package enum Failure: Sendable, Hashable { case inputOutput, full }
}

/// Hears of SQLite's calls before and after they are made.
package protocol FileWatcher: AnyObject, Sendable {
    func answer(_ call: FileCall) -> FileCall.Answer
    /// The call has succeeded.
    func done(_ call: FileCall)
    /// A file that was opened was closed.
    func closed(_ path: String)
    /// The bytes that reach the disk in place of those of a write that passes; nil if they are the same.
    func altered(_ call: FileCall) -> [UInt8]?
}

extension FileWatcher {
    package func altered(_ call: FileCall) -> [UInt8]? { nil }
}
