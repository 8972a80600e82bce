import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore

/// A store in a folder of its own, which a test migrates from version to version and validates.
///
/// ```swift
/// let store = try TestStore(at: "Shop 1", registry: Shop.registry)
/// let customers = try store.count(of: "Customer")
/// try store.migrate(to: "Shop 2")
/// #expect(try store.validate() == [])
/// #expect(try store.count(of: "Customer") == customers)
/// ```
///
/// The folder is removed with the value.
public final class TestStore: Sendable {
    /// The path of the store.
    public let path: String
    private let folder: TemporaryFolder
    private let versions: ModelVersions
    private let registry: MigrationRegistry

    /// Creates a store and fills it with objects that a seed determines.
    ///
    /// - Parameters:
    ///   - version: the name of the version; nil for the oldest.
    ///   - registry: the app's models and the code of its migrations.
    ///   - seed: the seed of the objects; the same seed makes the same objects.
    ///   - count: the number of objects of each entity.
    ///   - isHostile: whether values include extremes, or only everyday ones.
    /// - Throws: `modelNotFound` if the registry has no models, or none of that version.
    public convenience init(
        at version: String? = nil, registry: MigrationRegistry, seed: UInt64 = 1, count: Int = 16,
        isHostile: Bool = false
    ) throws {
        try self.init(named: "Test.sqlite", registry) { path, versions in
            try SampleStore.make(
                at: path, of: versions, version: version, seed: seed, count: count, isHostile: isHostile)
        }
    }

    /// Copies a store, such as one from `moult fixture`; the store itself is not changed.
    ///
    /// - Throws: `modelNotFound` if the registry has no models; the errors of reading the store.
    public convenience init(copyOf store: String, registry: MigrationRegistry) throws {
        try self.init(named: Path.name(of: store), registry) { path, _ in try StoreCopy.make(of: store, at: path) }
    }

    private init(
        named name: String, _ registry: MigrationRegistry,
        _ make: (_ path: String, _ versions: ModelVersions) throws -> Void
    ) throws {
        guard let versions = try registry.models?() else {
            throw MigrationError(
                .modelNotFound, "The registry has no models.", place: name,
                remedy: "Make it with MigrationRegistry(models: …).")
        }
        let folder = try TemporaryFolder("test", POSIXSystem())
        (self.folder, self.versions, self.registry) = (folder, versions, registry)
        path = Path.join(folder.path, name)
        try make(path, versions)
    }

    deinit { folder.remove() }

    /// The name of the store's present version.
    ///
    /// - Throws: `storeUnknown` if the store is of no known version.
    public var version: String { get throws { try versions.version(ofStore: path).name } }

    /// Migrates the store as the app would.
    ///
    /// - Parameter target: the name of the version; nil for the current one.
    /// - Returns: the losses, counted.
    /// - Throws: the errors of the migration; the store is then unchanged.
    @discardableResult
    public func migrate(to target: String? = nil) throws -> [MigrationLoss] {
        let prepared = try PreparedMigration(
            path, versions: versions, to: target,
            options: PreparedMigration.Options(registry: registry, losses: .asTheVersionsSay()))
        return try Migrator().run(prepared).flatMap(\.losses)
    }

    /// Opens the store with the app's own container, which migrates it just as on a device.
    ///
    /// ```swift
    /// let store = try TestStore(at: "1.0.0", registry: MigrationRegistry(plan: Plan.self))
    /// let container = try store.performMigration { path in
    ///     try ModelContainer(
    ///         for: Habit.self, migrationPlan: Plan.self,
    ///         configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - version: the name of the version that the store must have afterwards; nil for the current one.
    ///   - open: makes the container of the store at a path, and loads it. The store exists as long as this value.
    /// - Returns: the container.
    /// - Throws: the errors of the container; `usage` if the store has another version afterwards.
    public func performMigration<Container>(
        to version: String? = nil, _ open: (_ path: String) throws -> Container
    ) throws -> Container {
        let container = try open(path)
        try checkMigrated(to: version)
        return container
    }

    /// Opens the store with the app's own container, which loads it asynchronously and migrates it just as on a device.
    ///
    /// - Parameters:
    ///   - version: the name of the version that the store must have afterwards; nil for the current one.
    ///   - open: makes the container of the store at a path, and loads it.
    /// - Returns: the container.
    /// - Throws: the errors of the container; `usage` if the store has another version afterwards.
    public func performMigration<Container>(
        to version: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ open: (_ path: String) async throws -> Container
    ) async throws -> Container {
        let container = try await open(path)
        try checkMigrated(to: version)
        return container
    }

    private func checkMigrated(to name: String?) throws {
        let (found, asked) = (try versions.version(ofStore: path), versions.versions[try versions.target(named: name)])
        guard found.name != asked.name else { return }
        throw MigrationError(
            .usage, "After the container was opened, the store is of version \(found.name), not of \(asked.name).",
            place: path, remedy: "Give the container the models and the plan of the version.")
    }

    /// Migrates the store from the older to the newer version of a pair, and compares the data that the pair keeps.
    ///
    /// - Returns: a sentence for each entry of ``MigrationPair/keeps`` that was not kept.
    /// - Throws: `usage` if the store is of another version; `unknownKey` if an entry has a name that is not in its
    ///   version; the errors of the migration.
    public func migrate(_ pair: MigrationPair) throws -> [String] {
        let older = try versions.version(ofStore: path)
        guard older.names.contains(pair.from) else {
            throw MigrationError(
                .usage, "The store is of version \(older.name), not of \(pair.from).", place: path,
                remedy: "Make a store of \(pair.from), or correct the pair.")
        }
        let newer = try versions.versions[versions.target(named: pair.to)]
        let places = try pair.keeps.map { try KeptPlace($0, from: older.model, to: newer.model) }
        let before = try StoreObjects(ofStoreAt: path, in: versions)
        try migrate(to: pair.to)
        let after = try StoreObjects(ofStoreAt: path, in: versions)
        return places.compactMap { before.loss(of: $0, in: after) }
    }

    /// Returns the faults of the store, one sentence for each; empty if it is sound.
    ///
    /// - Throws: the errors of a store that cannot be read.
    public func validate() throws -> [String] {
        try audit().findings.filter { $0.severity > .note }.map { "\($0.place): \($0.message)" }
    }

    /// Returns the number of objects of an entity, without those of its sub-entities.
    ///
    /// - Throws: `unknownKey` if the store's version has no such entity.
    public func count(of entity: String) throws -> Int {
        guard let count = try audit().rowCounts[entity] else {
            throw MigrationError(
                .unknownKey, "\(try version) has no entity \(entity).", place: path,
                remedy: "Name an entity of the version that the store has now.")
        }
        return Int(clamping: count)
    }

    private func audit() throws -> StoreAudit {
        let version = try versions.version(ofStore: path)
        return try StoreAudit(path, model: version.model, requiring: version, full: true)
    }
}

/// A store for tests, filled with objects that a seed determines.
public enum SampleStore {
    /// Makes a store as Core Data would, and fills it: each attribute type with its extremes and with nil, each kind of
    /// relationship, each entity that is not abstract. The same seed makes the same objects.
    ///
    /// - Parameters:
    ///   - path: the path of the store; nothing may exist there.
    ///   - name: the version of the model; nil for the oldest.
    ///   - count: the number of objects of each entity.
    ///   - isHostile: whether values include extremes, such as NUL in text, or only everyday ones.
    /// - Throws: `modelNotFound` if no version has the name, `usage` if the path is taken.
    public static func make(
        at path: String, of models: ModelVersions, version name: String? = nil, seed: UInt64 = 1, count: Int = 16,
        isHostile: Bool = false
    ) throws {
        let version = name.map { name in models.versions.first { $0.names.contains(name) } } ?? models.versions.first
        guard let version else {
            throw MigrationError(
                .modelNotFound, "The model has no version \(name ?? "").", place: path,
                remedy: "Name one of \(models.versions.map(\.name).joined(separator: ", ")).")
        }
        let maker = try StoreCreator(version)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try SampleData(seed: seed, count: count, isHostile: isHostile).fill(writer)
        try writer.finish()
    }
}
