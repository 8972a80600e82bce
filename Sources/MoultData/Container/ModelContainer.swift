import Foundation
import MoultModel
import MoultObjects

/// A schema and the stores that hold its models.
///
///     let container = try ModelContainer(for: Note.self)
///     let context = ModelContext(container)
///
/// A store that is behind is migrated as the plan says, before the container is there.
public final class ModelContainer: Sendable {
    /// The models that the container was made for, in the version that its stores have.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations of the SQLite stores: one called `default` where none were given, none in the container of a
    /// migration's code.
    public let configurations: Set<ModelConfiguration>
    let stack: ModelStack
    @MainActor private var main: ModelContext?

    package var coordinator: ObjectCoordinator { stack.coordinator }

    /// - Parameter configurations: the stores; none means one called `default` in the program's own folder.
    /// - Throws: `SwiftDataError` with its name for it: ``SwiftDataError/loadIssueModelContainer``,
    ///   ``SwiftDataError/unknownSchema`` for a store of models that are not known here,
    ///   ``SwiftDataError/duplicateConfiguration`` and the others of configurations.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// - Parameter adjust: has a last word about how the stores are opened.
    init(
        _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
        _ configurations: [any DataStoreConfiguration],
        adjusting adjust: @escaping (inout StoreOpener) -> Void
    ) throws {
        let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        self.schema = schema
        self.migrationPlan = migrationPlan
        self.configurations = Set(given.compactMap { $0 as? ModelConfiguration })
        stack = try ContainerStores(schema: schema, plan: migrationPlan, configurations: given, adjusting: adjust)
            .open()
        stack.origin = (migrationPlan, self.configurations)
    }

    /// Opens the stores of a schema, as ``init(for:migrationPlan:configurations:)`` with a list of configurations does.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores of any kind, among them a ``DataStore`` of your own.
    ///
    /// - Throws: as with configurations of SQLite stores; what making the data store throws.
    @_disfavoredOverload
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [any DataStoreConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// Opens stores of any kind for these models and those that they lead to.
    ///
    /// - Throws: as the initialiser that takes a schema.
    @_disfavoredOverload
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(Schema(types), migrationPlan, configurations) { _ in }
    }

    /// Opens the stores of these models and of those that they lead to.
    ///
    /// - Throws: as the initialiser that takes a schema.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// A container over stores that are open already.
    init(_ stack: ModelStack) {
        schema = stack.schema
        (migrationPlan, configurations) = stack.origin
        self.stack = stack
    }

    /// The context of the main actor. It saves by itself (``ModelContext/autosaveEnabled``) and takes in what others
    /// of this container save.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        let context = ModelContext(self)
        context.becomeMain()
        main = context
        return context
    }

    /// The identifier of the store that a configuration of this name opened: what ``PersistentIdentifier/storeIdentifier``
    /// of its models is. Nil for a name that no configuration has.
    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        stack.opened.first { $0.configuration == name }?.store
    }

    /// The name of the configuration that opened a store; nil for an identifier that no store has.
    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        stack.opened.first { $0.store == identifier }?.configuration
    }

    /// Deletes every object of every store, whatever the delete rules. Models that somebody has keep what they hold, and
    /// belong to no context any more.
    public func erase() throws { try SwiftDataError.translating { try coordinator.erase() } }

    /// As ``erase()``; an error leaves everything as it is.
    public func deleteAllData() { try? erase() }
}

extension ModelContainer: Equatable {
    /// Whether both are the same container; two containers of one store are not equal.
    public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}
