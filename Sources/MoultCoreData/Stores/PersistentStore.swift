import Foundation
import MoultObjects
import Synchronization

/// One open store of a coordinator: `NSPersistentStore`.
public final class PersistentStore: @unchecked Sendable {
    /// The type of a store: the place where its objects are stored.
    public enum StoreType: String, Sendable, Hashable {
        /// A SQLite file, with its side files.
        case sqlite = "SQLite"
        /// In memory, for the lifetime of the store.
        case inMemory = "InMemory"
    }

    /// The store's file; nil for a store in memory.
    public let url: URL?
    /// Whether the objects are in a file or in memory.
    public let type: StoreType
    /// The configuration of the model whose entities the store holds; nil for all of them.
    public let configurationName: String?
    /// `NSStoreUUID`
    public let identifier: UUID
    /// Whether the store was opened read-only. Saving to it throws `readOnly`.
    public let isReadOnly: Bool
    let options: StoreOptions
    /// The engine's store; use it only under the coordinator's lock.
    package let store: ObjectStore
    private let entry: Mutex<OpenStoreRegistry.Entry?>

    init(_ store: ObjectStore, url: URL?, type: StoreType, configuration: String?, options: StoreOptions) {
        self.store = store
        self.url = url
        self.type = type
        configurationName = configuration
        identifier = store.identifier
        isReadOnly = store.isReadOnly
        self.options = options
        entry = Mutex(nil)
        if !store.path.isEmpty { entry.withLock { $0 = OpenStoreRegistry.Entry(store.path, self) } }
    }

    /// Whether the store can be closed without losing changes; false while it is being opened.
    var canRetire: Bool { store.coordinator?.canRetire(store) ?? false }

    /// Closes the store, so that this process can migrate it.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    func retire() -> Bool {
        guard let coordinator = store.coordinator, coordinator.retire(store) else { return false }
        entry.withLock { $0 = nil }
        return true
    }

    package func close() {
        store.close()
        entry.withLock { $0 = nil }
    }
}

/// The registry of the files that this process has open as stores.
///
/// Reading a store opens and closes its files, which would release the locks of this process's own connections to it. A
/// store in the registry is therefore never probed.
final class OpenStoreRegistry: Sendable {
    static let shared = OpenStoreRegistry()

    private struct Holder: @unchecked Sendable { weak var store: PersistentStore? }

    private let holders = Mutex<[String: [ObjectIdentifier: Holder]]>([:])

    func contains(_ path: String) -> Bool { holders.withLock { $0[path] != nil } }

    /// Closes a store before its migration, wherever this process has it open.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    func retire(_ path: String) -> Bool {
        let open = holders.withLock { $0[path]?.values.compactMap(\.store) ?? [] }
        guard open.allSatisfy(\.canRetire) else { return false }
        return open.allSatisfy { $0.retire() } && !contains(path)
    }

    /// The entry of one store, removed when it is deallocated.
    final class Entry: Sendable {
        private let path: String

        init(_ path: String, _ store: PersistentStore) {
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
