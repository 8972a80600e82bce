import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

extension PersistentStoreCoordinator {
    /// The metadata of a store that need not be open: looked at without changing a byte.
    ///
    /// - Throws: `fileNotFound`, `notAStore`, `metadataInvalid`.
    public static func metadataForPersistentStore(
        type: PersistentStore.StoreType = .sqlite, at url: URL
    ) throws -> [String: Any] {
        try storedMetadata(at: url).dictionary
    }

    private static func storedMetadata(at url: URL) throws -> StoreMetadata {
        let system = POSIXSystem()
        guard try system.exists(url.path), OpenStores.shared.contains(try system.resolve(url.path)) else {
            return try StoreProbe.read(url.path) { try StoreMetadata(from: $0.connection) }
        }
        let connection = try Connection(try system.resolve(url.path), mode: .readOnly, busyTimeout: 5_000)
        defer { connection.close() }
        return try StoreMetadata(from: connection)
    }

    /// Writes the application's own entries into the metadata of a store that need not be open.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries; `fileNotFound`, `notAStore`; `locked`.
    public static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        // Says what is wrong with a file that is no store before anything opens it for writing.
        _ = try storedMetadata(at: url)
        let connection = try Connection(
            try POSIXSystem().resolve(url.path), mode: .readWrite, busyTimeout: 5_000)
        defer { connection.close() }
        try connection.transaction {
            var stored = try StoreMetadata(from: connection)
            try stored.setApplicationEntries(of: metadata ?? [:])
            try stored.write(to: connection)
        }
    }

    /// The metadata of an open store.
    public func metadata(for store: PersistentStore) throws -> [String: Any] {
        try objects.lock.withLock { try store.store.metadata().dictionary }
    }

    /// Writes the application's own entries into the metadata of an open store, at once.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries, `readOnly`.
    public func setMetadata(_ metadata: [String: Any]?, for store: PersistentStore) throws {
        try objects.lock.withLock {
            try store.store.writing {
                var stored = try store.store.metadata()
                try stored.setApplicationEntries(of: metadata ?? [:])
                let entries = stored.applicationEntries
                try store.store.updateMetadata { $0 = entries }
            }
        }
    }
}
