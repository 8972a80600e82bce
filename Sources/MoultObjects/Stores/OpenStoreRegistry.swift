import MoultBasics
import Synchronization

/// The registry of the files that this process has open as stores.
///
/// Reading a store opens and closes its files, which would release the locks of this process's own connections to it. A
/// store in the registry is therefore never probed.
package final class OpenStoreRegistry: Sendable {
    package static let shared = OpenStoreRegistry()

    private struct Holder: @unchecked Sendable { weak var store: (any Member)? }

    /// A store of the registry.
    package protocol Member: AnyObject, Sendable {
        /// Whether the store can be closed without losing changes.
        var canRetire: Bool { get }

        /// Closes the store, and removes its entry.
        ///
        /// - Returns: false if unsaved changes would be lost; the store then stays open.
        func retire() -> Bool

        /// Closes the store, so that its contents can be destroyed or replaced, and removes its entry.
        ///
        /// - Throws: `usage` while the store is in a transaction, or not yet open.
        func suspend() throws

        /// Opens a suspended store again for its coordinator.
        func resume() throws

        /// Removes a suspended store, whose contents were destroyed or replaced, from its coordinator.
        func discard()
    }

    private let holders = Mutex<[String: [ObjectIdentifier: Holder]]>([:])
    /// The number of times that this process has destroyed or replaced the store at a path.
    private let replacements = Mutex<[String: Int]>([:])

    package func contains(_ path: String) -> Bool { holders.withLock { $0[path] != nil } }

    /// Closes a store before its migration, wherever this process has it open.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    package func retire(_ path: String) -> Bool {
        let open = holders.withLock { $0[path]?.values.compactMap(\.store) ?? [] }
        guard open.allSatisfy({ $0.canRetire }) else { return false }
        return open.allSatisfy { $0.retire() } && !contains(path)
    }

    /// Runs `body`, which destroys or replaces the contents of a store, while the store is closed wherever this process
    /// has it open. Its coordinators lose it, unless `body` throws: then they continue with it.
    package func replacing(_ path: String, _ body: () throws -> Void) throws {
        let open = holders.withLock { $0[path]?.values.compactMap(\.store) ?? [] }
        var suspended: [any Member] = []
        do {
            for store in open {
                try store.suspend()
                suspended.append(store)
            }
            try body()
        } catch {
            for store in suspended where (try? store.resume()) == nil { store.discard() }
            throw error
        }
        replacements.withLock { $0[path, default: 0] += 1 }
        for store in suspended { store.discard() }
    }

    fileprivate func replacements(at path: String) -> Int { replacements.withLock { $0[path] ?? 0 } }

    /// The entry of one store, removed when it is deallocated.
    package final class Entry: Sendable {
        private let path: String

        package init(_ path: String, _ store: any Member) {
            self.path = path
            let id = ObjectIdentifier(self)
            OpenStoreRegistry.shared.holders.withLock { $0[path, default: [:]][id] = Holder(store: store) }
        }

        deinit {
            let id = ObjectIdentifier(self)
            OpenStoreRegistry.shared.holders.withLock { holders in
                holders[path]?[id] = nil
                if holders[path]?.isEmpty ?? false { holders[path] = nil }
            }
        }
    }
}

/// The file of a closed store at one moment. It is equal to the one at a later moment only if the file was not written,
/// destroyed or replaced in between.
package struct StoreFile: Equatable {
    /// The identity of the file, its size and the time of its last change; empty if there is no file.
    private let numbers: [Int64]
    private let replacements: Int

    package init(_ path: String, on system: any System = POSIXSystem()) {
        let path = (try? system.resolve(path)) ?? path
        let status = try? system.status(of: path)
        numbers =
            status.map {
                [
                    Int64(bitPattern: $0.device), Int64(bitPattern: $0.inode), $0.size, $0.modified.seconds,
                    Int64($0.modified.nanoseconds),
                ]
            } ?? []
        replacements = OpenStoreRegistry.shared.replacements(at: path)
    }
}
