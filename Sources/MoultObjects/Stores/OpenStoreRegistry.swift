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
    }

    private let holders = Mutex<[String: [ObjectIdentifier: Holder]]>([:])

    package func contains(_ path: String) -> Bool { holders.withLock { $0[path] != nil } }

    /// Closes a store before its migration, wherever this process has it open.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    package func retire(_ path: String) -> Bool {
        let open = holders.withLock { $0[path]?.values.compactMap(\.store) ?? [] }
        guard open.allSatisfy({ $0.canRetire }) else { return false }
        return open.allSatisfy { $0.retire() } && !contains(path)
    }

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
