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
    package var canRetire: Bool { store.coordinator?.canRetire(store) ?? false }

    /// Closes the store, so that this process can migrate it.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    package func retire() -> Bool {
        guard let coordinator = store.coordinator, coordinator.retire(store) else { return false }
        entry.withLock { $0 = nil }
        return true
    }

    package func close() {
        store.close()
        entry.withLock { $0 = nil }
    }
}

extension PersistentStore: OpenStoreRegistry.Member {}
