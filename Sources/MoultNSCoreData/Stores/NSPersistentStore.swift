import Foundation
import MoultCoreData

/// One open store of a coordinator.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    let base: PersistentStore
    weak var coordinator: NSPersistentStoreCoordinator?
    /// The options that the store was opened with.
    open internal(set) var options: [AnyHashable: Any]?

    /// The kinds of stores.
    public struct StoreType: RawRepresentable, Sendable, Hashable {
        /// Core Data's word.
        public let rawValue: String
        /// The kind of that word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// One SQLite file.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// In memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)

        func moult(_ call: String) throws -> PersistentStore.StoreType {
            if let type = PersistentStore.StoreType(rawValue: rawValue) { return type }
            throw MigrationError(
                .unsupported, "There are no stores of type \(rawValue).", place: call,
                remedy: "Use NSSQLiteStoreType or NSInMemoryStoreType.")
        }
    }

    init(_ base: PersistentStore, _ coordinator: NSPersistentStoreCoordinator) {
        self.base = base
        self.coordinator = coordinator
    }

    /// The store's file; `/dev/null` for one in memory.
    open var url: URL? { base.url ?? URL(fileURLWithPath: "/dev/null") }
    /// Core Data's word for the kind of store.
    open var type: String { base.type.rawValue }
    /// The configuration whose entities the store holds.
    open var configurationName: String { base.configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME" }
    /// The UUID of the store.
    open var identifier: String! { base.identifier.uuidString }
    /// Whether the store was opened for reading only.
    open var isReadOnly: Bool { base.isReadOnly }
    /// The coordinator that the store is open in.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { coordinator }
    /// The metadata of the store.
    open var metadata: [String: Any]! { coordinator?.metadata(for: self) }

    /// Whether both are the same open store.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentStore)?.base === base }
    /// Hashes which open store it is.
    open override var hash: Int { ObjectIdentifier(base).hashValue }
}
