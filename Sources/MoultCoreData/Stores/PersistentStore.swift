import Foundation
import MoultModel
import MoultObjects
import Synchronization

/// One open store of a coordinator: `NSPersistentStore`.
public final class PersistentStore: @unchecked Sendable {
    /// Where the objects of a store are kept.
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
        entry = Mutex(store.path.isEmpty ? nil : OpenStores.Entry(store.path))
    }

    package func close() {
        store.close()
        entry.withLock { $0 = nil }
    }
}
