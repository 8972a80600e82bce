import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import TestSupport
import Testing

/// Stores that hold the entities of one configuration of their model.
@Suite struct ConfigurationTests {  // tier: long
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Drafts, settings and notes; of two configurations Cloud always has the notes and Local the settings.
    private static func model(_ name: String, draftsIn: String, hasStars: Bool = false, hasAge: Bool = false) throws
        -> ModelVersion
    {
        func entity(_ name: String, _ attributes: [AttributeDescription]) -> EntityDescription {
            EntityDescription(name: name, attributes: attributes)
        }
        let stars = AttributeDescription(name: "stars", type: .integer16, isOptional: true)
        let age = AttributeDescription(name: "age", type: .integer16, isOptional: true)
        let model = try ManagedObjectModel(
            entities: [
                entity("Draft", [AttributeDescription(name: "text", type: .string)] + (hasAge ? [age] : [])),
                entity("Note", [AttributeDescription(name: "body", type: .string)] + (hasStars ? [stars] : [])),
                entity("Setting", [AttributeDescription(name: "key", type: .string)]),
            ],
            configurations: [
                Configuration(name: "Cloud", entityNames: ["Note"] + (draftsIn == "Cloud" ? ["Draft"] : [])),
                Configuration(name: "Local", entityNames: ["Setting"] + (draftsIn == "Local" ? ["Draft"] : [])),
            ], versionIdentifiers: [name])
        return ModelVersion(names: [name], model: model)
    }

    /// The second version has the hashes of the first, and the drafts are in the other configuration.
    private static func app() throws -> ModelVersions {
        ModelVersions(joining: [
            try model("App", draftsIn: "Local"), try model("App 2", draftsIn: "Cloud"),
            try model("App 3", draftsIn: "Cloud", hasStars: true),
        ])
    }

    private func open(
        _ name: String, _ model: ModelVersion, _ versions: ModelVersions? = nil,
        accepting accepted: [String] = []
    ) throws -> ManagedObjectContext {
        let container = PersistentContainer(name: "App", managedObjectModel: model.model, versions: versions)
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: "\(folder.path)/\(name).sqlite"))
        description.configuration = name
        if !accepted.isEmpty {
            var registry = MigrationRegistry()
            registry.acceptedLosses = AcceptedLosses(accepted)
            description.migrationRegistry = registry
        }
        container.persistentStoreDescriptions = [description]
        let failures = Failures()
        container.loadPersistentStores { failures.note($1) }
        if let error = failures.errors.compactMap(\.self).first { throw error }
        return container.viewContext
    }

    private func fill(_ name: String, _ model: ModelVersion, _ entities: [String]) throws {
        let context = try open(name, model)
        for entity in entities { _ = try context.insertNewObject(forEntityName: entity) }
        try context.save()
    }

    /// By what SQLite's own shell reads.
    private func entities(_ name: String) throws -> String {
        try SQLiteShell.run(
            "\(folder.path)/\(name).sqlite",
            "SELECT group_concat(Z_NAME) FROM (SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1)")
    }

    private func count(_ entity: String, _ context: ManagedObjectContext) throws -> Int {
        try context.count(for: FetchRequest<ManagedObject>(entityName: entity))
    }

    @Test func `a store whose version nobody has is migrated to its configuration, and opens again`() throws {
        try fill("Local", Self.model("V1", draftsIn: "Local"), ["Draft", "Draft", "Setting"])
        for _ in 1...2 {
            let context = try open("Local", Self.model("V2", draftsIn: "Local", hasAge: true))
            #expect(try count("Draft", context) == 2)
            #expect(try count("Setting", context) == 1)
        }
        #expect(try entities("Local") == "Draft,Setting\n")
    }

    @Test func `of versions with equal hashes, a store is of the one whose configuration it holds`() throws {
        let app = try Self.app()
        try fill("Cloud", Self.model("App", draftsIn: "Local"), ["Note", "Note", "Note"])
        #expect(try entities("Cloud") == "Note\n")
        let last = try #require(app.versions.last)
        for _ in 1...2 { #expect(try count("Note", open("Cloud", last, app)) == 3) }
        #expect(try entities("Cloud") == "Draft,Note\n")
    }

    @Test(arguments: ["App 2", "App 3"])
    func `objects whose entity is in another configuration now are not dropped unless the app says so`(
        name: String
    ) throws {
        let app = try Self.app()
        try fill("Local", Self.model("App", draftsIn: "Local"), ["Draft", "Draft", "Setting"])
        let target = try #require(app.versions.first { $0.name == name })
        let error = try #require(throws: MigrationError.self) { try open("Local", target, app) }
        #expect(error.code == .lossNotAccepted)
        #expect(
            error.message.contains(
                "2 objects of Draft are deleted: in \(name) the entity is in the configuration Cloud, not in that of "
                    + "the store."), "\(error)")
        #expect(error.remedy.contains("copy the objects of Draft to the store of the configuration Cloud"))
        #expect(try SQLiteShell.run("\(folder.path)/Local.sqlite", "SELECT count(*) FROM ZDRAFT") == "2\n")
        #expect(try count("Setting", open("Local", target, app, accepting: ["Draft"])) == 1)
        #expect(try entities("Local") == "Setting\n")
    }
}
