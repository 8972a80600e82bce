import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Every verb takes a store of a configuration for one of that configuration.
@Suite struct ConfigurationStoreTests {
    private static let draft = EntityDescription(
        name: "Draft", attributes: [AttributeDescription(name: "text", type: .string)])

    private static func note(hasStars: Bool) -> EntityDescription {
        let stars = AttributeDescription(name: "stars", type: .integer16, isOptional: true)
        return EntityDescription(
            name: "Note", attributes: [AttributeDescription(name: "body", type: .string)] + (hasStars ? [stars] : []))
    }

    /// A tool beside the versions `1` and `2` of a model with two configurations, and a store of one of them as
    /// Core Data makes it, with the entities of the configuration only.
    private func tool(local: [String] = ["Draft"]) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        func write(_ model: ManagedObjectModel, _ path: String) throws {
            let file = URL(fileURLWithPath: "\(moult.folder.path)/\(path).json")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try model.json.indented.write(to: file, atomically: true, encoding: .utf8)
        }
        for (name, hasStars) in [("1", false), ("2", true)] {
            let cloud = ["Note"] + (name == "2" && local.isEmpty ? ["Draft"] : [])
            let model = try ManagedObjectModel(
                entities: [Self.draft, Self.note(hasStars: hasStars)],
                configurations: [
                    Configuration(name: "Cloud", entityNames: cloud),
                    Configuration(name: "Local", entityNames: name == "1" ? ["Draft"] : local),
                ])
            try write(model, "models/\(name)")
        }
        try write(ManagedObjectModel(entities: [Self.note(hasStars: false)]), "cloud/1")
        try write(ManagedObjectModel(entities: [Self.draft]), "local/1")
        for (name, rows) in [("cloud", "Note=5"), ("local", "Draft=4")] {
            let made = try moult("create", "\(name).sqlite", "--model", name, "--rows", rows)
            #expect(made.exit == 0, "\(made.errors)")
        }
        return moult
    }

    private func shell(_ moult: Tool, _ store: String, _ sql: String) throws -> String {
        try SQLiteShell.run("\(moult.folder.path)/\(store)", sql)
    }

    private static let entities =
        "SELECT group_concat(Z_NAME) FROM (SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1)"

    @Test(arguments: [
        "migrate cloud.sqlite", "migrate cloud.sqlite --normalise", "migrate cloud.sqlite --budget 5s",
        "migrate cloud.sqlite --into new.sqlite", "mirror start cloud.sqlite --to 2 --at new.sqlite",
    ])
    func `the new store has the entities of its configuration, and is of the new version`(command: String) throws {
        let moult = try tool()
        let run = try moult.run(Tool.path, command.split(separator: " ").map(String.init) + ["--model", "models"])
        #expect(run.exit == 0, "\(run.errors)")
        let store = command.contains("new.sqlite") ? "new.sqlite" : "cloud.sqlite"
        #expect(try shell(moult, store, Self.entities) == "Note\n")
        #expect(try shell(moult, store, "SELECT count(*), count(ZSTARS) FROM ZNOTE") == "5|0\n")
        let status = try moult("status", store, "--model", "models", "--json").document
        #expect(status["state"] as? String == "current" && status["configuration"] as? String == "Cloud")
    }

    @Test func `a deferred migration of it is finished, and a plain one is taken back`() throws {
        let moult = try tool()
        for command in [
            "migrate cloud.sqlite --deferred", "finish cloud.sqlite", "downgrade cloud.sqlite --to 1",
            "validate cloud.sqlite",
        ] {
            let run = try moult.run(Tool.path, command.split(separator: " ").map(String.init) + ["--model", "models"])
            #expect(run.exit == 0, "\(command): \(run.errors)")
        }
        #expect(try shell(moult, "cloud.sqlite", Self.entities) == "Note\n")
        #expect(
            try shell(moult, "cloud.sqlite", "SELECT count(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZSTARS'")
                == "0\n")
    }

    @Test func `it is looked at, repaired and followed as what it is`() throws {
        let moult = try tool()
        for command in ["validate cloud.sqlite --full", "doctor cloud.sqlite --model cloud", "repair cloud.sqlite"] {
            let more = command.contains("--model") ? [] : ["--model", "models"]
            let run = try moult.run(Tool.path, command.split(separator: " ").map(String.init) + more)
            #expect(run.exit == 0, "\(command): \(run.output) \(run.errors)")
        }
        let doctor = try moult("doctor", "cloud.sqlite", "--model", "models")
        #expect(!doctor.output.contains("could not be examined"), "\(doctor.output)")
        #expect(try shell(moult, "cloud.sqlite", Self.entities) == "Note\n")
        #expect(try moult("mirror", "start", "cloud.sqlite", "--at", "new.sqlite", "--model", "models").exit == 0)
        _ = try shell(moult, "cloud.sqlite", "UPDATE ZNOTE SET ZBODY = 'new', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
        let synced = try moult("mirror", "sync", "cloud.sqlite", "--model", "models")
        #expect(synced.exit == 0 && synced.output.contains("1 changed"), "\(synced.output) \(synced.errors)")
        #expect(try shell(moult, "new.sqlite", "SELECT ZBODY FROM ZNOTE WHERE Z_PK = 2") == "new\n")
    }

    @Test func `what the app opens it with can be said where its entities do not tell`() throws {
        let moult = Tool(folder: try ScratchFolder())
        let models = moult.folder.path + "/models"
        try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
        let notes = Configuration(name: "Cloud", entityNames: ["Note"])
        for (name, model) in [
            ("1", try ManagedObjectModel(entities: [Self.note(hasStars: false)], configurations: [notes])),
            (
                "2",
                try ManagedObjectModel(
                    entities: [Self.draft, Self.note(hasStars: true)],
                    configurations: [notes, Configuration(name: "Local", entityNames: ["Draft"])])
            ),
        ] {
            try model.json.indented.write(toFile: "\(models)/\(name).json", atomically: true, encoding: .utf8)
        }
        #expect(try moult("create", "a.sqlite", "--model", "models", "--version", "1", "--rows", "Note=5").exit == 0)
        let plan = try moult("plan", "a.sqlite", "--model", "models")
        #expect(plan.output.contains("pass --store-configuration Cloud"), "\(plan.output)")
        let said = ["--model", "models", "--store-configuration", "Cloud"]
        #expect(try !moult.run(Tool.path, ["plan", "a.sqlite"] + said).output.contains("configuration-open"))
        let run = try moult.run(Tool.path, ["migrate", "a.sqlite"] + said)
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try shell(moult, "a.sqlite", Self.entities) == "Note\n")
        #expect(try shell(moult, "a.sqlite", "SELECT count(*) FROM ZNOTE") == "5\n")
        let wrong = try moult("migrate", "a.sqlite", "--model", "models", "--store-configuration", "Klaud")
        #expect(wrong.exit == 3 && wrong.errors.contains("Klaud"), "\(wrong.errors)")
    }

    @Test func `what is salvaged of it has the entities of its configuration`() throws {
        let moult = try tool()
        let path = moult.folder.path + "/cloud.sqlite"
        _ = try SQLiteShell.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The kind of the tree on the first page: SQLite opens it no more.
        bytes[100] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: path))
        let salvage = try moult("salvage", "cloud.sqlite", "saved.sqlite", "--model", "models")
        #expect(salvage.output.hasPrefix("The store is of version 1, by its metadata."), "\(salvage)")
        #expect(try shell(moult, "saved.sqlite", Self.entities) == "Note\n")
        #expect(try shell(moult, "saved.sqlite", "SELECT count(*) FROM ZNOTE") == "5\n")
    }

    @Test(arguments: [["Note"], ["Draft", "Note"]])
    func `an entity that only goes to another configuration, or into a second one, is no equality`(
        cloud: [String]
    ) throws {
        let moult = Tool(folder: try ScratchFolder())
        let models = moult.folder.path + "/models"
        try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
        for (name, cloud, local) in [
            ("1", ["Note"], ["Draft"]), ("2", ["Draft", "Note"], cloud == ["Note"] ? [] : ["Draft"]),
        ] {
            try ManagedObjectModel(
                entities: [Self.draft, Self.note(hasStars: false)],
                configurations: [
                    Configuration(name: "Cloud", entityNames: cloud), Configuration(name: "Local", entityNames: local),
                ]
            ).json.indented.write(toFile: "\(models)/\(name).json", atomically: true, encoding: .utf8)
        }
        let diff = try moult("diff", "1", "2", "--model", "models", "--check")
        #expect(diff.exit == 1, "\(diff)")
        #expect(
            diff.output.contains(
                "A store of either opens with the other, unless it was opened with one of these configurations."),
            "\(diff)")
    }

    @Test func `an entity that leaves it is named by diff, lint and plan, each for what it is`() throws {
        let moult = try tool(local: [])
        let diff = try moult("diff", "1", "2", "--model", "models")
        let leaves = "The entity Draft leaves the configuration Local, whose stores lose its objects"
        #expect(diff.output.contains(leaves), "\(diff.output)")
        #expect(try moult("lint", "models").output.contains("[DATA012] Entity leaves a configuration"))
        let local = try moult("migrate", "local.sqlite", "--model", "models")
        #expect(local.exit == 3)
        #expect(
            local.errors.contains(
                "4 objects of Draft are deleted: in 2 the entity is in the configuration Cloud, not in that of the "
                    + "store."), "\(local.errors)")
        #expect(try shell(moult, "local.sqlite", "SELECT count(*) FROM ZDRAFT") == "4\n")
        // The other store loses nothing, and its plan says nothing of it.
        let cloud = try moult("plan", "cloud.sqlite", "--model", "models")
        #expect(cloud.exit == 0 && !cloud.output.contains("leaves the configuration"), "\(cloud.output)")
        #expect(try moult("migrate", "cloud.sqlite", "--model", "models").exit == 0)
        #expect(try shell(moult, "cloud.sqlite", Self.entities) == "Draft,Note\n")
    }
}
