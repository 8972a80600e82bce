import Synchronization

/// The files that this process has open as stores.
///
/// A probe opens and closes a store's files, at which this process would lose the locks that its connections to the
/// same store have: so what is open here is never probed.
final class OpenStores: Sendable {
    static let shared = OpenStores()

    private struct Holder: @unchecked Sendable { weak var store: PersistentStore? }

    private let holders = Mutex<[String: [ObjectIdentifier: Holder]]>([:])

    func contains(_ path: String) -> Bool { holders.withLock { $0[path] != nil } }

    /// Closes a store that is about to be migrated, wherever this process has it open.
    ///
    /// - Returns: false, with the store open as it was, where unsaved changes would be lost.
    func retire(_ path: String) -> Bool {
        let open = holders.withLock { $0[path]?.values.compactMap(\.store) ?? [] }
        guard open.allSatisfy(\.canRetire) else { return false }
        return open.allSatisfy { $0.retire() } && !contains(path)
    }

    /// One store's entry; gone with it.
    final class Entry: Sendable {
        private let path: String

        init(_ path: String, _ store: PersistentStore) {
            self.path = path
            let id = ObjectIdentifier(self)
            OpenStores.shared.holders.withLock { $0[path, default: [:]][id] = Holder(store: store) }
        }

        deinit {
            let id = ObjectIdentifier(self)
            OpenStores.shared.holders.withLock { holders in
                holders[path]?[id] = nil
                if holders[path]?.isEmpty ?? false { holders[path] = nil }
            }
        }
    }
}
