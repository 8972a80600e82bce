import Foundation
import TestSupport
import Testing

/// What a person types to go back to an older version.
struct WayBackVerbTests {
    /// A store of version `App`, next to the model.
    private func store(_ versions: String...) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        for (number, attributes) in versions.enumerated() {
            let name = number == 0 ? "App" : "App \(number + 1)"
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "<model><entity name=\"Item\">\(attributes)</entity></model>".write(
                toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        let made = try moult("create", "a.sqlite", "--model", "App.xcdatamodeld", "--version", "App", "--fill", "3")
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    private func attribute(_ name: String, _ type: String = "String", _ more: String = "optional=\"YES\"") -> String {
        "<attribute name=\"\(name)\" attributeType=\"\(type)\" \(more)/>"
    }

    private let model = ["--model", "App.xcdatamodeld"]

    @Test func `the answers that the way forward needed bring the values back`() throws {
        let moult = try store(attribute("a"), attribute("b"))
        let path = moult.folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(path, "UPDATE ZITEM SET ZA = 'v' || Z_PK")
        #expect(try moult("answer", "App.xcdatamodeld", "--set", "Item.b=rename:a", "--answers", "own.json").exit == 0)
        let answers = model + ["--answers", "own.json"]
        #expect(try moult.run(Tool.path, ["migrate", "a.sqlite"] + answers).exit == 0)
        let without = try moult.run(Tool.path, ["downgrade", "a.sqlite", "--to", "App"] + model)
        #expect(without.exit == 3 && without.output.contains("Is Item.b new, or was it renamed?"), "\(without)")
        let back = try moult.run(Tool.path, ["downgrade", "a.sqlite", "--to", "App"] + answers)
        #expect(back.exit == 0, "\(back)")
        #expect(try SQLiteShell.run(path, "SELECT ZA FROM ZITEM ORDER BY Z_PK") == "v1\nv2\nv3\n")
    }

    @Test func `a value that the older version requires is recorded as the help says, and the way forward ignores it`()
        throws
    {
        let moult = try store(attribute("name") + attribute("id", "Integer 32", ""), attribute("name"))
        let path = moult.folder.path + "/a.sqlite"
        #expect(try moult.run(Tool.path, ["migrate", "a.sqlite", "--accept-losses"] + model).exit == 0)
        let refused = try moult.run(Tool.path, ["downgrade", "a.sqlite", "--to", "App"] + model)
        #expect(refused.exit == 3, "\(refused)")
        #expect(refused.output.contains("3 objects have no Item.id, which becomes required. To give them one, answer:"))
        let way = ["answer", "App.xcdatamodeld", "--from", "App 2", "--to", "App"]
        #expect(try moult.run(Tool.path, way + ["--set", "Item.name=value:x"]).exit == 2)
        #expect(try moult.run(Tool.path, way + ["--set", "Item.id=value:x"]).exit == 2)
        let answered = try moult.run(Tool.path, way + ["--set", "Item.id=value:7"])
        #expect(answered.exit == 0 && answered.output.contains("App 2 → App  Item.id=value:7"), "\(answered)")
        // Found beside the model.
        let back = try moult.run(Tool.path, ["downgrade", "a.sqlite", "--to", "App"] + model)
        #expect(back.exit == 0, "\(back)")
        #expect(try SQLiteShell.run(path, "SELECT DISTINCT ZID FROM ZITEM") == "7\n")
        #expect(try moult.run(Tool.path, ["plan", "a.sqlite", "--accept-losses"] + model).exit == 0)
        #expect(try moult.run(Tool.path, way + ["--forget", "Item.id"]).exit == 0)
    }

    @Test func `doctor plans with the losses that moult.json declares, as plan does`() throws {
        let moult = try store(attribute("name") + attribute("id", "Integer 32"), attribute("name"))
        _ = try SQLiteShell.run(moult.folder.path + "/a.sqlite", "UPDATE ZITEM SET ZID = Z_PK")
        func run(_ arguments: String...) throws -> Tool.Result { try moult.run(Tool.path, arguments + model) }
        #expect(try run("doctor", "a.sqlite").output.contains("once its losses are declared"))
        try #"{"acceptedLosses": ["Item.id"]}"#.write(
            toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        #expect(try run("plan", "a.sqlite").exit == 0)
        let doctor = try run("doctor", "a.sqlite")
        #expect(doctor.output.contains("can be migrated to App 2. It needs "), "\(doctor)")
    }

    private func figure(_ text: String) -> String? {
        text.firstMatch(of: /needs ([0-9.]+ [kMG]?B)[a-z]* of free space/).map { String($0.output.1) }
    }

    @Test func `doctor, plan, the dry run and the migration name one figure for the room, and what fits`() throws {
        guard let volume = try SmallVolume(kilobytes: 32_000) else { return }
        let moult = try Tool.besideForumModel()
        let (store, forum) = (volume.path + "/forum.sqlite", ["--model", "Forum.xcdatamodeld"])
        let made = try moult.run(Tool.path, ["create", store, "--version", "Forum", "--fill", "1000"] + forum)
        try #require(made.exit == 0, "\(made)")
        func run(_ arguments: String...) throws -> Tool.Result { try moult.run(Tool.path, arguments + forum) }
        let room = try #require(
            AnnouncedRoom.bytes(
                after: "needs", in: try volume.withRoom(8_192) { try run("migrate", store) }.errors))
        let frugal = try #require(
            AnnouncedRoom.bytes(
                after: "needs", in: try volume.withRoom(8_192) { try run("migrate", store, "--frugal") }.errors))
        #expect(frugal < room)
        try volume.withRoom(8_192) {
            let migrated = try run("migrate", store)
            #expect(migrated.exit == 3 && !migrated.errors.contains("--frugal"), "\(migrated)")
            #expect(migrated.errors.contains("--into FILE") && !migrated.errors.contains("bytes"), "\(migrated)")
        }
        try volume.withRoom((room + frugal) / 2) {
            let migrated = try run("migrate", store)
            #expect(migrated.exit == 3 && migrated.errors.contains("use --frugal"), "\(migrated)")
            #expect(migrated.errors.contains("--backups FOLDER"), "\(migrated)")
            #expect(!migrated.errors.contains("--deferred"), "\(migrated)")
            let doctor = try run("doctor", store)
            #expect(doctor.output.contains("insufficient-storage") && !doctor.output.contains("can be migrated"))
            let (plan, dry) = (try run("plan", store), try run("migrate", store, "--dry-run"))
            #expect(plan.exit == 0 && dry.exit == 0)
            #expect(plan.output.contains("are free)") && dry.output.contains("are free)"), "\(plan) \(dry)")
            #expect(plan.output.contains("The migration takes about "))
            let figures = [migrated.errors, doctor.output, plan.output, dry.output].map(figure)
            #expect(Set(figures).count == 1 && figures[0] != nil, "\(figures)")
        }
        // Each way is followed to the letter, on a copy of the store.
        let ways = [
            ["--frugal"], ["--backups", moult.folder.path + "/backups"], ["--into", moult.folder.path + "/new.sqlite"],
        ]
        for way in ways {
            let copy = "\(volume.path)/\(way[0].dropFirst(2)).sqlite"
            try FileManager.default.copyItem(atPath: store, toPath: copy)
            try volume.withRoom((room + frugal) / 2) {
                let followed = try moult.run(Tool.path, ["migrate", copy] + way + forum)
                #expect(followed.exit == 0, "\(way): \(followed)")
            }
        }
        try volume.withRoom(room + 4_096) {
            let (doctor, migrated) = (try run("doctor", store), try run("migrate", store))
            #expect(doctor.output.contains("can be migrated") && migrated.exit == 0, "\(doctor) \(migrated)")
        }
    }

    @Test func `a refusal names deferred work where all of it can wait, which fits in the room that it says`() throws {
        guard let volume = try SmallVolume(kilobytes: 32_000) else { return }
        let moult = try store(attribute("name") + attribute("note"), attribute("name"))
        let path = volume.path + "/a.sqlite"
        _ = try SQLiteShell.run(
            moult.folder.path + "/a.sqlite",
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value + 100, 1, 1, hex(zeroblob(400)) FROM "
                + "generate_series(1, 2000); UPDATE Z_PRIMARYKEY SET Z_MAX = 3000; PRAGMA wal_checkpoint(TRUNCATE)")
        try FileManager.default.copyItem(atPath: moult.folder.path + "/a.sqlite", toPath: path)
        try volume.withRoom(600_000) {
            let way = ["migrate", path, "--accept-losses"] + model
            let refused = try moult.run(Tool.path, way)
            #expect(refused.exit == 3 && refused.errors.contains("use --deferred, which needs "), "\(refused)")
            #expect(refused.errors.contains(" now and leaves slow work to `moult finish "), "\(refused)")
            let followed = try moult.run(Tool.path, way + ["--deferred"])
            #expect(followed.exit == 0, "\(followed)")
        }
    }
}
