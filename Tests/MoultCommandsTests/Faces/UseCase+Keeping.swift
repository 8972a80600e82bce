import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

// Cases about backups and records.

extension UseCase {
    static let keeping: [UseCase] = [
        UseCase(
            "backups",
            [
                "backup create", "backup list", "backup verify", "backup restore", "backup export", "backup import",
                "backup prune",
            ],
            [
                "backUp(_:options:)", "backups(of:options:)", "verify(_:)", "restore(_:to:options:)", "export(_:to:)",
                "importBackup(_:for:wasClosed:options:)", "pruneBackups(of:keeping:options:)",
            ]
        ) {
            let faces = try Faces.forum()
            let project = try faces.project
            func line(_ verb: String, _ arguments: String...) throws -> JSONValue {
                let result = try faces.tool.run(Tool.path, ["backup", verb, "app.sqlite", "--json"] + arguments)
                #expect(result.exit == 0, "\(verb): \(result)")
                return try JSONValue(parsing: Array(result.output.utf8), place: verb, code: .usage)
            }
            func expectSame(_ document: JSONValue?, _ backup: StoreBackup) {
                faces.expectSame(
                    document ?? .null,
                    [
                        "version": .string(backup.version), "rows": .integer(backup.rows.values.reduce(0, +)),
                        "size": .integer(backup.bytes), "reason": JSONValue(backup.reason),
                    ])
            }
            let made = try await project.backUp(faces.library).report
            let name = try line("create", "--model", "App.xcdatamodeld")["backup"]?["name"]?.string ?? ""
            _ = try ContainerFace.backUp(faces.app)
            expectSame(
                try line("list")["backups"]?.array?.first,
                try #require(try await project.backups(of: faces.library).first))
            #expect(try ContainerFace.backups(faces.app).count == 1)
            try await project.verify(made)
            #expect(try line("verify")["backups"]?.array?.first?["sound"]?.bool == true)
            for store in [faces.library, faces.app, faces.tool.folder.path + "/app.sqlite"] {
                _ = try SQLiteShell.run(store, "DELETE FROM ZPOST")
            }
            _ = try await project.restore(made, to: faces.library).report
            _ = try line("restore", name)
            try ContainerFace.restore(faces.app)
            try faces.expectSameRows(withApp: true)
            #expect(try SQLiteShell.run(faces.library, "SELECT count(*) FROM ZPOST") == "4\n")
            try await project.export(made, to: faces.folder + "/out.tar")
            _ = try line("export", name, "out.tar")
            let imported = try await project.importBackup(faces.folder + "/out.tar", for: faces.library)
            expectSame(try line("import", "out.tar")["backup"], imported)
            let policy = RetentionPolicy(keepAllDays: 0, keepWeeklyDays: 0, minimumCount: 1)
            let gone = try await project.pruneBackups(of: faces.library, keeping: policy)
            let removed = try line("prune", "--keep-all", "0", "--keep-weekly", "0", "--minimum", "1")["removed"]
            #expect(removed?.array?.count == gone.count)
        },
        UseCase("a rollback", ["rollback"], ["rollback(_:to:options:)"]) {
            let faces = try Faces.forum()
            let before = try Faces.rows(faces.library)
            _ = try faces.moult("migrate", "app.sqlite")
            _ = try await faces.project.migrate(faces.library).report
            #expect(try ContainerFace.open(faces.app, model: faces.model).code == nil)
            let document = try faces.moult("rollback", "app.sqlite")
            let report = try await faces.project.rollback(faces.library).report
            #expect(document["restored"]?["version"]?.string == report.restored.version)
            #expect(document["saved"]?["version"]?.string == report.saved?.version)
            try ContainerFace.restore(faces.app)
            try faces.expectSameRows(withApp: true)
            #expect(try Faces.rows(faces.library) == before)
        },
        UseCase("a store that is moved", ["move"], ["move(_:to:options:)"]) {
            let faces = try Faces.forum()
            let before = try Faces.rows(faces.library)
            let document = try faces.moult("move", "app.sqlite", "moved.sqlite")
            let moved = faces.folder + "/moved.sqlite"
            let report = try await faces.project.move(faces.library, to: moved).report
            faces.expectSame(
                document,
                [
                    "outcome": .string(report.outcome.rawValue), "to": .string(report.destination),
                    "bytes": .integer(report.bytes),
                ])
            #expect(report.outcome == .moved && document["backup"]?["reason"]?.string == "move")
            #expect(report.backup?.reason == "move" && report.backup?.version == "Forum")
            let app = URL(fileURLWithPath: faces.app).deletingLastPathComponent().path + "/moved.sqlite"
            try ContainerFace.move(faces.app, to: app)
            for store in [faces.tool.folder.path + "/moved.sqlite", moved, app] {
                #expect(try Faces.rows(store) == before)
            }
            for store in [faces.tool.folder.path + "/app.sqlite", faces.library, faces.app] {
                #expect(!FileManager.default.fileExists(atPath: store))
            }
            // The old path says where the store is, and the same call again finds its work done.
            let gone = try faces.moult("status", "app.sqlite", exit: 4)
            let error = await #expect(throws: MigrationError.self) {
                _ = try await faces.project.status(of: faces.library)
            }
            faces.expectSame(gone["error"] ?? .null, ["code": JSONValue(error?.code.description)])
            #expect(error?.message.contains("was moved to \(moved)") == true)
            let again = try faces.moult("move", "app.sqlite", "moved.sqlite")
            let second = try await faces.project.move(faces.library, to: moved).report
            faces.expectSame(again, ["outcome": .string(second.outcome.rawValue)])
            #expect(second.outcome == .nothingToDo)
            // The old place keeps a backup.
            _ = try faces.moult("rollback", "app.sqlite")
            _ = try await faces.project.rollback(faces.library).report
            try faces.expectSameRows()
            #expect(try Faces.rows(faces.library) == before)
        },
        UseCase("what was done to a store", ["runs", "log"], ["history(of:)", "log(of:)"]) {
            let faces = try Faces.shrinking()
            _ = try faces.moult("migrate", "app.sqlite", "--accept-losses")
            var options = RunOptions()
            options.acceptedLosses = .all
            _ = try await faces.project.migrate(faces.library, options: options).report
            _ = try ContainerFace.open(faces.app, model: faces.model)
            let run = try #require(try faces.moult("runs", "app.sqlite", isModelNamed: false)["runs"]?.array?.first)
            let called = try #require(try await faces.project.history(of: faces.library).first)
            faces.expectSame(
                run,
                [
                    "operation": .string(called.operation.rawValue), "result": .string(called.result.rawValue),
                    "from": .string(called.from), "to": .string(called.to), "rows": .integer(called.rows),
                    "backup": JSONValue(called.backup),
                ])
            let losses = run["losses"]?.array?.compactMap { $0["sentence"]?.string }
            #expect(called.losses.map(\.sentence) == losses)
            let event = try #require(try ContainerFace.history(faces.app).first)
            #expect(event.losses == losses && event.from == called.from && event.to == called.to)
            faces.expectSame(
                try faces.moult("log", "app.sqlite", isModelNamed: false),
                ["lines": JSONValue(try await faces.project.log(of: faces.library))])
        },
        UseCase("a run that died", ["resume"], ["recover(_:options:)", "resume(_:options:)"]) {
            let faces = try Faces.forum()
            let document = try faces.moult("resume", "app.sqlite", isModelNamed: false)
            faces.expectSame(
                document, ["recovery": .string(try await faces.project.recover(faces.library).rawValue)])
            let report = try await faces.project.resume(faces.library).report
            #expect(report.recovery == .nothing && report.migration == nil)
            try faces.expectSameRows()
        },
    ]
}
