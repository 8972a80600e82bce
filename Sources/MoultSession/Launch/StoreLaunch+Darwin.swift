// Core Data's own models, for a launch on Apple's systems. On Linux, MoultCoreData and MoultData have the same calls.
//
// Never compiled with Core Data and SwiftData yet: Scripts/check-apple has neither, and leaves this file out.
#if canImport(Darwin) && canImport(CoreData)
    import CoreData
    import Foundation
    import MoultBasics
    import MoultModel
    import MoultModelFiles
    import MoultObjects

    extension StoreLaunch.Models {
        /// Versions as Core Data has them, oldest first. They are read once, here.
        ///
        /// - Parameter registry: the code that migrations call.
        /// - Throws: `modelInvalid` if Moult does not read a model as Core Data does.
        public static func models(
            _ models: [NSManagedObjectModel], registry: MigrationRegistry = MigrationRegistry()
        ) throws -> StoreLaunch.Models {
            .inCode(try models.map(ManagedObjectModel.init(archiving:)), registry: registry)
        }
    }

    extension ManagedObjectModel {
        /// Reads a model of Core Data by its archive, which is what a `.mom` is.
        ///
        /// - Throws: `modelInvalid` if a version hash is not the one that Core Data computes: the migration could not
        ///   make a store that Core Data opens.
        fileprivate init(archiving model: NSManagedObjectModel) throws {
            let archive = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: false)
            // The findings are about parts that Moult does not know. One that changes a version hash is refused below.
            var findings: [Finding] = []
            try self.init(compiled: [UInt8](archive), findings: &findings)
            let own = VersionHashes(of: self).entities
            let theirs = model.entityVersionHashesByName.mapValues { [UInt8]($0) }
            guard own != theirs else { return }
            let names = Set(own.keys).union(theirs.keys).filter { own[$0] != theirs[$0] }.sorted()
            throw MigrationError(
                .modelInvalid, "Moult reads these entities of a model differently from Core Data.",
                place: names.joined(separator: ", "),
                remedy: "Let Core Data migrate this store, and report the entities. Nothing was changed.")
        }
    }
#endif

#if canImport(Darwin) && canImport(CoreData) && canImport(SwiftData)
    import SwiftData

    extension StoreLaunch {
        /// Creates the launch of the store of a container with the same schema, plan and configuration.
        ///
        /// The versions are those of the plan, or else the schema alone.
        ///
        /// - Throws: `usage` for several configurations; `codeMissing` for a plan with a custom stage, because its code
        ///   takes a context of SwiftData; `modelInvalid` for a schema that SwiftData makes no model of, or that Moult
        ///   does not read as Core Data does.
        public init(
            for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
            configurations: ModelConfiguration...
        ) throws {
            let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
            guard given.count == 1, let store = given.first else {
                throw MigrationError(
                    .usage, "A launch prepares the store of one configuration.",
                    remedy: "Make a launch for the URL of each configuration, with the models of its entities.")
            }
            guard !store.isStoredInMemoryOnly else {
                self.init([])
                return
            }
            for case .custom in migrationPlan?.stages ?? [] {
                throw MigrationError(
                    .codeMissing, "A custom stage of a migration plan is code that Moult cannot run here.",
                    place: migrationPlan.map { "\($0)" } ?? "",
                    remedy: "Make the launch with the models of the versions, and register the code with Moult's names."
                )
            }
            let schemas = migrationPlan?.schemas ?? []
            var models = try schemas.map { try Self.model("\($0)", .makeManagedObjectModel(for: $0.models)) }
            if models.isEmpty { models = [try Self.model("the schema", .makeManagedObjectModel(for: schema))] }
            let names = schemas.map { "\($0)" }
            self.init(
                store: store.url,
                models: .inCode(
                    try models.map(ManagedObjectModel.init(archiving:)), named: names.isEmpty ? nil : names))
        }

        private static func model(_ name: String, _ model: NSManagedObjectModel?) throws -> NSManagedObjectModel {
            if let model { return model }
            throw MigrationError(
                .modelInvalid, "SwiftData makes no model of a schema.", place: name,
                remedy: "Make a container with this schema, and read its error.")
        }
    }
#endif
