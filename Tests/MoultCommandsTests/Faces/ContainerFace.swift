import Foundation
import MoultCare
import MoultCoreData
import MoultData

/// What an app does to a store through containers; in a file of its own, because the names of the faces collide.
enum ContainerFace {
    /// How opening a store ended.
    struct Opened {
        /// The losses that the description was told of.
        var losses: [String] = []
        /// The error's code; nil if the store was opened.
        var code: String?
    }

    /// Opens a store with the newest version of a model, and closes it.
    ///
    /// - Parameter hasVersions: whether the app has the older versions too.
    static func open(
        _ store: String, model: String, hasVersions: Bool = true,
        _ change: (PersistentStoreDescription) -> Void = { _ in }
    ) throws -> Opened {
        let container = try container(store, model, hasVersions: hasVersions, change)
        let opened = Kept(Opened())
        container.persistentStoreDescriptions[0].migrationLosses = { opened.value.losses = $0.map(\.sentence) }
        container.loadPersistentStores { _, error in opened.value.code = (error as? MigrationError)?.code.description }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        return opened.value
    }

    private final class Kept: @unchecked Sendable {
        var value: Opened
        init(_ value: Opened) { self.value = value }
    }

    private static func container(
        _ store: String, _ model: String, hasVersions: Bool = true, _ change: (PersistentStoreDescription) -> Void
    ) throws -> PersistentContainer {
        let versions = try ModelVersions(contentsOf: URL(fileURLWithPath: model))
        guard let newest = versions.versions.last?.model else { throw CocoaError(.fileReadNoSuchFile) }
        let container = PersistentContainer(
            name: "app", managedObjectModel: newest, versions: hasVersions ? versions : nil)
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: store))
        change(description)
        container.persistentStoreDescriptions = [description]
        return container
    }

    /// Migrates a store within a budget; whether it is finished.
    static func migrate(_ store: String, model: String, budget: Double) throws -> Bool {
        try container(store, model) { _ in }.migrate(budget: budget) == .finished
    }

    /// Migrates a store in place, and does the deferred work.
    static func migrateDeferred(_ store: String, model: String) throws {
        let container = try container(store, model) {
            $0.setOption(true, forKey: PersistentStoreOption.deferredLightweightMigration)
        }
        container.loadPersistentStores { _, _ in }
        guard !container.persistentStoreCoordinator.persistentStores.isEmpty else {
            throw CocoaError(.fileReadUnknown)
        }
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    /// Moves a store that is not open, with the calls that Core Data has for it.
    static func move(_ store: String, to path: String) throws {
        let (old, new) = (URL(fileURLWithPath: store), URL(fileURLWithPath: path))
        try PersistentStoreCoordinator.replacePersistentStore(at: new, withPersistentStoreFrom: old)
        try PersistentStoreCoordinator.destroyPersistentStore(at: old)
    }

    // MARK: - Backups and history

    static func backUp(_ store: String) throws -> String {
        let manager = BackupManager(storeAt: URL(fileURLWithPath: store))
        let backup = try manager.createBackup()
        try manager.verify(backup)
        return backup.name
    }

    /// The names of a store's backups.
    static func backups(_ store: String) throws -> [String] {
        try BackupManager(storeAt: URL(fileURLWithPath: store)).backups().map(\.name)
    }

    /// Restores the newest backup.
    static func restore(_ store: String) throws {
        let manager = BackupManager(storeAt: URL(fileURLWithPath: store))
        if let newest = try manager.backups().last { _ = try manager.restore(newest) }
    }

    /// What was lost, and between which versions, by run.
    static func history(_ store: String) throws -> [(from: String, to: String, losses: [String])] {
        try MigrationHistory(storeAt: URL(fileURLWithPath: store)).events().map {
            ($0.from, $0.to, $0.losses.map(\.sentence))
        }
    }

    // MARK: - A mirror

    /// Starts a mirror, syncs it, and cuts over; whether the stores were equal.
    static func mirror(_ store: String, model: String, at other: String) async throws -> Bool {
        let mirror = try await PersistentStoreMirror.start(
            storeAt: URL(fileURLWithPath: store), versions: ModelVersions(contentsOf: URL(fileURLWithPath: model)),
            at: URL(fileURLWithPath: other))
        try await mirror.sync()
        return try await mirror.verify().isEqual
    }
}
