import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultModel
import TestSupport
import Testing

// Cases that bring a store to another version.

extension UseCase {
    static let migrating: [UseCase] = [
        UseCase("a migration", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let faces = try Faces.forum()
            let document = try faces.moult("migrate", "app.sqlite")
            let report = try await faces.project.migrate(faces.library).report
            try faces.expectSame(document, report.json)
            #expect(try ContainerFace.open(faces.app, model: faces.model).code == nil)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("a migration that loses what nobody has declared", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let faces = try Faces.shrinking()
            let before = try Faces.rows(faces.library)
            let document = try faces.moult("migrate", "app.sqlite", exit: 3)
            let error = await #expect(throws: MigrationError.self) {
                _ = try await faces.project.migrate(faces.library).report
            }
            faces.expectSame(
                document["error"] ?? .null,
                ["code": "lossNotAccepted", "message": JSONValue(error?.message), "place": JSONValue(error?.place)])
            #expect(error?.code == .lossNotAccepted && error?.remedy.contains("--") == false)
            // An app that does not have the store's version.
            let refused = try ContainerFace.open(faces.app, model: faces.model, hasVersions: false)
            #expect(refused.code == "lossNotAccepted")
            try faces.expectSameRows(withApp: true)
            #expect(try Faces.rows(faces.library) == before)
            // One that has both: Library.md says why this differs.
            let opened = try ContainerFace.open(faces.app, model: faces.model)
            #expect(opened.code == nil)
            let accepted = try faces.moult("migrate", "app.sqlite", "--accept-losses")
            #expect(accepted["losses"]?.array?.compactMap { $0["sentence"]?.string } == opened.losses)
            var options = RunOptions()
            options.acceptedLosses = .all
            try faces.expectSame(accepted, try await faces.project.migrate(faces.library, options: options).report.json)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("losses that are accepted by name", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let faces = try Faces.shrinking()
            try "{\"model\": \"App.xcdatamodeld\", \"acceptedLosses\": [\"Note\", \"Post.title\"]}".write(
                toFile: faces.tool.folder.path + "/moult.json", atomically: true, encoding: .utf8)
            var options = RunOptions()
            options.acceptedLosses = ["Note", "Post.title"]
            try faces.expectSame(
                faces.moult("migrate", "app.sqlite", isModelNamed: false),
                try await faces.project.migrate(faces.library, options: options).report.json)
            let opened = try ContainerFace.open(faces.app, model: faces.model, hasVersions: false) {
                $0.acceptedLosses = ["Note", "Post.title"]
            }
            #expect(opened.code == nil && opened.losses.count == 2)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("a rehearsal", ["migrate"], ["rehearse(_:to:options:)"]) {
            let faces = try Faces.shrinking()
            try faces.expectSame(
                faces.moult("migrate", "app.sqlite", "--dry-run"),
                try await faces.project.rehearse(faces.library).report.json)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("a migration into another file", ["migrate"], ["migrate(_:into:to:options:)"]) {
            let faces = try Faces.forum()
            _ = try faces.moult("migrate", "app.sqlite", "--into", "new.sqlite")
            _ = try await faces.project.migrate(faces.library, into: faces.folder + "/new.sqlite").report
            #expect(
                try Faces.rows(faces.folder + "/new.sqlite") == Faces.rows(faces.tool.folder.path + "/new.sqlite"))
            try faces.expectSameRows(withApp: true)
            let shrinking = try Faces.shrinking()
            let document = try shrinking.moult("migrate", "app.sqlite", "--into", "new.sqlite", exit: 3)
            let error = await #expect(throws: MigrationError.self) {
                _ = try await shrinking.project.migrate(shrinking.library, into: shrinking.folder + "/new.sqlite")
                    .report
            }
            shrinking.expectSame(document["error"] ?? .null, ["code": JSONValue(error?.code.description)])
            #expect(error?.code == .lossNotAccepted)
        },
        UseCase("a migration in calls of limited time", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let faces = try Faces.forum()
            let document = try faces.moult("migrate", "app.sqlite", "--budget", "1min")
            var options = RunOptions()
            options.budget = .seconds(60)
            let report = try await faces.project.migrate(faces.library, options: options).report
            faces.expectSame(document, ["finished": .bool(report.outcome == .migrated), "to": .string(report.to)])
            #expect(try ContainerFace.migrate(faces.app, model: faces.model, budget: 60))
            try faces.expectSameRows(withApp: true)
        },
        UseCase("work that is put off", ["migrate", "finish"], ["finish(_:within:options:)"]) {
            let faces = try Faces.shrinking()
            var options = RunOptions()
            (options.defersWork, options.acceptedLosses) = (true, .all)
            try faces.expectSame(
                faces.moult("migrate", "app.sqlite", "--deferred", "--accept-losses"),
                try await faces.project.migrate(faces.library, options: options).report.json)
            let document = try faces.moult("finish", "app.sqlite")
            let report = try await faces.project.finish(faces.library).report
            faces.expectSame(
                document,
                [
                    "finished": .bool(report.isFinished), "backup": JSONValue(report.backup?.name),
                ])
            #expect(document["done"]?.array?.count == report.done.count)
            #expect(document["losses"]?.array?.compactMap { $0["sentence"]?.string } == report.losses.map(\.sentence))
            try ContainerFace.migrateDeferred(faces.app, model: faces.model)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("a store that is mirrored to CloudKit", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let faces = try Faces.forum(
                "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER)")
            let document = try faces.moult("migrate", "app.sqlite", exit: 3)
            #expect(document["error"]?["remedy"]?.string?.contains("--cloudkit") == true)
            let error = await #expect(throws: MigrationError.self) {
                _ = try await faces.project.migrate(faces.library).report
            }
            faces.expectSame(document["error"] ?? .null, ["code": JSONValue(error?.code.description)])
            #expect(error?.remedy.contains("allowsCloudKit") == true && error?.remedy.contains("--") == false)
            #expect(try ContainerFace.open(faces.app, model: faces.model).code == "cloudKit")
            var options = RunOptions()
            options.allowsCloudKit = true
            try faces.expectSame(
                faces.moult("migrate", "app.sqlite", "--cloudkit"),
                try await faces.project.migrate(faces.library, options: options).report.json)
            let opened = try ContainerFace.open(faces.app, model: faces.model) {
                $0.setOption(true, forKey: "MoultAllowsCloudKitMigrationOption")
            }
            #expect(opened.code == nil)
            try faces.expectSameRows(withApp: true)
        },
        UseCase("a way back to an older version", ["downgrade"], ["downgrade(_:to:isRehearsal:options:)"]) {
            let faces = try Faces.forum()
            _ = try faces.moult("migrate", "app.sqlite")
            _ = try await faces.project.migrate(faces.library).report
            let document = try faces.moult("downgrade", "app.sqlite", "--to", "Forum")
            let report = try await faces.project.downgrade(faces.library, to: "Forum").report
            faces.expectSame(
                document,
                [
                    "from": .string(report.from), "to": .string(report.to), "way": .string(report.way.rawValue),
                    "losses": JSONValue(report.losses),
                ])
            try faces.expectSameRows()
        },
        UseCase(
            "a second store that follows",
            ["mirror start", "mirror sync", "mirror status", "mirror verify", "mirror cutover", "mirror stop"],
            [
                "startMirror(of:at:to:options:)", "StoreMirror.sync(comparingAll:overwriting:)",
                "StoreMirror.status()", "StoreMirror.verify()", "StoreMirror.cutOver(acceptingLosses:)",
                "StoreMirror.undoCutOver()", "StoreMirror.stop()",
            ]
        ) {
            let faces = try Faces.forum()
            func line(_ verb: String, _ arguments: String...) throws -> JSONValue {
                let result = try faces.tool.run(
                    Tool.path, ["mirror", verb, "app.sqlite", "--json"] + arguments)
                #expect(result.exit == 0, "\(verb): \(result)")
                return try JSONValue(parsing: Array(result.output.utf8), place: verb, code: .usage)
            }
            _ = try line("start", "--model", "App.xcdatamodeld", "--at", "second.sqlite")
            let mirror = try await faces.project.startMirror(of: faces.library, at: faces.folder + "/second.sqlite")
            for store in [faces.tool.folder.path + "/app.sqlite", faces.library] {
                _ = try SQLiteShell.run(store, "UPDATE ZUSER SET ZNAME = 'new', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
            }
            let sync = try await mirror.sync()
            faces.expectSame(
                try line("sync"),
                [
                    "means": .string(sync.means.rawValue), "inserted": .integer(Int64(sync.inserted)),
                    "updated": .integer(Int64(sync.updated)), "deleted": .integer(Int64(sync.deleted)),
                ])
            #expect(try await mirror.verify().isEqual)
            #expect(try line("verify")["equal"]?.bool == true)
            #expect(try await mirror.status().isBehind == false)
            #expect(try line("status")["behind"]?.bool == false)
            let lost = try await mirror.cutOver(acceptingLosses: true)
            #expect(try line("cutover", "--accept-losses")["losses"]?.array?.compactMap(\.string) ?? lost == lost)
            try await mirror.undoCutOver()
            _ = try line("cutover", "--undo")
            try await mirror.stop()
            _ = try line("stop")
            let seconds = [faces.folder, faces.tool.folder.path].map { $0 + "/second.sqlite" }
            #expect(try Faces.rows(seconds[0]) == Faces.rows(seconds[1]))
            try faces.expectSameRows()
            let second = URL(fileURLWithPath: faces.app).deletingLastPathComponent().path + "/second.sqlite"
            #expect(try await ContainerFace.mirror(faces.app, model: faces.model, at: second))
        },
        UseCase(
            "a second store that was moved", ["mirror start", "mirror sync"],
            ["startMirror(of:at:to:options:)", "mirror(of:options:)", "StoreMirror.moveSecond(to:)"]
        ) {
            let faces = try Faces.forum()
            _ = try faces.moult("mirror start", "app.sqlite", "--at", "second.sqlite")
            _ = try await faces.project.startMirror(of: faces.library, at: faces.folder + "/second.sqlite")
            for folder in [faces.folder, faces.tool.folder.path] {
                try FileManager.default.moveItem(atPath: folder + "/second.sqlite", toPath: folder + "/moved.sqlite")
                _ = try SQLiteShell.run(
                    folder + "/app.sqlite", "UPDATE ZUSER SET ZNAME = 'new', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
            }
            let mirror = try await faces.project.mirror(of: faces.library)
            let error = await #expect(throws: MigrationError.self) { _ = try await mirror.sync() }
            let lost = try faces.moult("mirror sync", "app.sqlite", isModelNamed: false, exit: 4)
            faces.expectSame(lost["error"] ?? .null, ["code": JSONValue(error?.code.description)])
            try await mirror.moveSecond(to: faces.folder + "/moved.sqlite")
            let sync = try await mirror.sync()
            faces.expectSame(
                try faces.moult("mirror sync", "app.sqlite", "--at", "moved.sqlite", isModelNamed: false),
                ["means": .string(sync.means.rawValue), "updated": .integer(Int64(sync.updated))])
            #expect(sync.updated == 1)
            let moved = [faces.folder, faces.tool.folder.path].map { $0 + "/moved.sqlite" }
            #expect(try Faces.rows(moved[0]) == Faces.rows(moved[1]))
            #expect(try SQLiteShell.run(moved[0], "SELECT ZNAME FROM ZUSER WHERE Z_PK = 1") == "new\n")
            try faces.expectSameRows()
        },
        UseCase("a second store that would lose something", ["mirror start"], ["startMirror(of:at:to:options:)"]) {
            let faces = try Faces.shrinking()
            let document = try faces.moult("mirror start", "app.sqlite", "--at", "second.sqlite", exit: 3)
            let error = await #expect(throws: MigrationError.self) {
                _ = try await faces.project.startMirror(of: faces.library, at: faces.folder + "/second.sqlite")
            }
            faces.expectSame(document["error"] ?? .null, ["code": JSONValue(error?.code.description)])
            #expect(error?.code == .lossNotAccepted)
        },
    ]
}
