import Foundation
import MoultObjects
import Synchronization

/// One open store of a coordinator: `NSPersistentStore`.
public final class PersistentStore: @unchecked Sendable {
    /// The type of a store: the place where its objects are kept.
    public enum StoreType: String, Sendable, Hashable {
        /// One SQLite file, with the files next to it.
        case sqlite = "SQLite"
        /// In memory, and gone with the store.
        case inMemory = "InMemory"
    }

    /// Nil for a store in memory.
    public let url: URL?
    /// Whether the objects are in a file or in memory.
    public let type: StoreType
    /// The configuration of the model whose entities the store holds; nil for all of them.
    public let configurationName: String?
    /// `NSStoreUUID`
    public let identifier: UUID
    /// Whether the store was opened for reading only; a save to it throws `readOnly`.
    public let isReadOnly: Bool
    let options: StoreOptions
    /// Used under the coordinator's lock only.
    package let store: ObjectStore
    private let entry: Mutex<OpenStores.Entry?>

    init(
        _ store: ObjectStore, url: URL?, type: StoreType, configuration: String?, options: StoreOptions
    ) {
        self.store = store
        self.url = url
        self.type = type
        configurationName = configuration
        identifier = store.identifier
        isReadOnly = store.isReadOnly
        self.options = options
        entry = Mutex(nil)
        if !store.path.isEmpty { entry.withLock { $0 = OpenStores.Entry(store.path, self) } }
    }

    /// Whether the store can be closed without a loss; false while it is being opened.
    var canRetire: Bool { store.coordinator?.canRetire(store) ?? false }

    /// Closes the store, so that this process can migrate it.
    ///
    /// - Returns: false, and the store stays open, where unsaved changes would be lost.
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
