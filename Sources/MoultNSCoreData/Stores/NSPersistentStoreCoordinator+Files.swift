import Foundation
import MoultCoreData

extension NSPersistentStoreCoordinator {
    /// The metadata of a store that need not be open.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try cocoaErrors {
            _ = try type.moult("metadataForPersistentStore")
            return try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
        }
    }

    /// The metadata of a store that need not be open.
    public class func metadataForPersistentStore(
        ofType type: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(type: .init(rawValue: type), at: url)
    }

    /// Writes the app's own entries into the metadata of a store that need not be open.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try cocoaErrors {
            _ = try type.moult("setMetadata")
            try PersistentStoreCoordinator.setMetadata(metadata, at: url)
        }
    }

    /// Writes the app's own entries into the metadata of a store that need not be open.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType type: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, type: .init(rawValue: type), at: url)
    }

    /// The metadata of an open store.
    public func metadata(for store: NSPersistentStore) -> [String: Any] {
        orRaise("NSPersistentStoreCoordinator.metadata(for:)") { try base.metadata(for: store.base) }
    }

    /// Writes the app's own entries into the metadata of an open store, at once.
    public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        orRaise("NSPersistentStoreCoordinator.setMetadata(_:for:)") {
            try base.setMetadata(metadata, for: store.base)
        }
    }

    /// Removes a store with every file next to it.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try cocoaErrors {
            try PersistentStoreCoordinator.destroyPersistentStore(
                at: url, type: try type.moult("destroyPersistentStore"), options: Self.moult(options))
        }
    }

    /// Removes a store with every file next to it.
    public func destroyPersistentStore(
        at url: URL, ofType type: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, type: .init(rawValue: type), options: options)
    }

    /// Puts a copy of one store in the place of another.
    public func replacePersistentStore(
        at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws {
        try cocoaErrors {
            try PersistentStoreCoordinator.replacePersistentStore(
                at: destination, withPersistentStoreFrom: source, type: try type.moult("replacePersistentStore"))
        }
    }

    /// Puts a copy of one store in the place of another.
    public func replacePersistentStore(
        at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType type: String
    ) throws {
        try replacePersistentStore(
            at: destination, withPersistentStoreFrom: source, type: .init(rawValue: type))
    }

    /// Copies an open store to another place and continues with the copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        let copy = try cocoaErrors {
            try base.migratePersistentStore(
                store.base, to: url, options: Self.moult(options), type: try type.moult("migratePersistentStore"))
        }
        return persistentStores.first { $0.base === copy } ?? NSPersistentStore(copy, self)
    }

    /// Copies an open store to another place and continues with the copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType type: String
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: url, options: options, type: .init(rawValue: type))
    }

    /// Does everything that deferred migrations have left.
    public func finishDeferredLightweightMigration() throws {
        try cocoaErrors { try base.finishDeferredLightweightMigration() }
    }

    /// Does the next task that a deferred migration has left.
    public func finishDeferredLightweightMigrationTask() throws {
        try cocoaErrors { try base.finishDeferredLightweightMigrationTask() }
    }
}
