import MoultBasics
import MoultSQLite
import Synchronization

/// A disk on which no database can be read while a test says so. It is that of the databases below a folder that are
/// opened while it exists.
package final class UnreadableDisk: Sendable {
    private final class Watcher: FileWatcher {
        let isFailing = Mutex(false)

        func answer(_ call: FileCall) -> FileCall.Answer {
            // Each transaction takes a lock, also where SQLite has the pages in memory.
            guard [.read, .lock, .shm].contains(call.operation), isFailing.withLock({ $0 }) else { return .pass }
            return .fail(.inputOutput)
        }
        func done(_ call: FileCall) {}
        func closed(_ path: String) {}
    }

    /// The folder, without symbolic links.
    package let folder: String
    private let watcher = Watcher()

    package init(_ folder: String) throws {
        self.folder = try POSIXSystem().resolve(folder)
        guard WatchedVFS.watch(self.folder, by: watcher) else {
            throw MigrationError(
                .internal, "SQLite has no file system of its own.", place: folder, remedy: "Report this.")
        }
    }

    deinit { WatchedVFS.unwatch(folder) }

    /// Runs `body`, during which no read succeeds.
    @discardableResult
    package func failing<Result>(_ body: () throws -> Result) rethrows -> Result {
        watcher.isFailing.withLock { $0 = true }
        defer { watcher.isFailing.withLock { $0 = false } }
        return try body()
    }
}
