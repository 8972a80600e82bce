import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultModel
import TestSupport
import Testing

// Cases that repair what is in a store.

extension UseCase {
    static let caring: [UseCase] = [
        UseCase("a repair", ["repair"], ["repair(_:only:isRehearsal:options:)"]) {
            // A cycle, which Core Data allows, and a reference to an object that is not there.
            let sql = """
                UPDATE ZPOST SET ZPARENT = 3 - Z_PK WHERE Z_PK < 3; UPDATE ZPOST SET ZPARENT = 99 WHERE Z_PK = 4
                """
            for rules: Set<RepairRule>? in [nil, [.cycles]] {
                let faces = try Faces.shrinking(sql)
                let report: RepairReport
                let document: JSONValue
                if let rules {
                    report = try await faces.project.repair(faces.library, only: rules).report
                    document = try faces.moult("repair", "app.sqlite", "--only", "cycles", exit: report.isWell ? 0 : 1)
                } else {
                    report = try await faces.project.repair(faces.library).report
                    document = try faces.moult("repair", "app.sqlite", exit: report.isWell ? 0 : 1)
                }
                let faults = (document["findings"]?.array ?? []).map { fault in
                    "\(fault["rule"]?.string ?? "") \(fault["place"]?.string ?? "") \(fault["count"]?.integer ?? -1)"
                }
                #expect(report.faults.map { "\($0.rule.rawValue) \($0.place) \($0.count)" } == faults)
                try faces.expectSameRows()
                let cycle = try SQLiteShell.run(faces.library, "SELECT count(ZPARENT) FROM ZPOST WHERE Z_PK < 3")
                #expect((cycle == "2\n") == (rules == nil), "a cycle is cut only on request")
            }
        },
        UseCase(
            "old history and free pages", ["repair"], ["trimHistory(of:before:givingBackSpace:isRehearsal:options:)"]
        ) {
            let faces = try Faces.shrinking(
                "CREATE TABLE ZFREE (X); INSERT INTO ZFREE VALUES (zeroblob(500000)); DROP TABLE ZFREE")
            let report = try await faces.project.trimHistory(of: faces.library, before: 86_400).report
            let document = try faces.moult(
                "repair", "app.sqlite", "--only", "history,space", "--before", "2001-01-02", exit: 0)
            #expect(report.isWell && report.faults.map(\.rule) == [.space])
            let counts = document["findings"]?.array?.map { $0["count"]?.integer }
            #expect(counts == report.faults.map { Int64($0.count) })
            for path in [faces.library, faces.tool.folder.path + "/app.sqlite"] {
                #expect(try SQLiteShell.run(path, "PRAGMA freelist_count") == "0\n")
            }
            try faces.expectSameRows()
        },
        UseCase(
            "the fixes of an app's rules", ["validate"],
            ["addRules(contentsOf:)", "applyFixes(to:isRehearsal:options:)"]
        ) {
            let rules = """
                {"format": 1, "rules": [{"name": "titled", "entity": "Post", "predicate": "title != nil",
                "when": ["before"], "fix": {"set": {"title": "'none'"}}}]}
                """
            let faces = try Faces.shrinking("UPDATE ZPOST SET ZTITLE = NULL WHERE Z_PK = 2")
            for folder in [faces.folder, faces.tool.folder.path] {
                try rules.write(toFile: folder + "/rules.json", atomically: true, encoding: .utf8)
            }
            var project = try faces.project
            try project.addRules(contentsOf: faces.folder + "/rules.json")
            // A rule of a file is checked whatever moment of a migration it is for.
            let validated = try await project.validate(faces.library)
            let found = try faces.moult("validate", "app.sqlite", "--rules", "rules.json", exit: 1)
            #expect(!validated.isSound && found["rules"]?.array?.count == validated.rules.count)
            let report = try await project.applyFixes(to: faces.library).report
            let document = try faces.moult("validate", "app.sqlite", "--rules", "rules.json", "--fix")
            faces.expectSame(document, ["quarantined": .integer(report.quarantined)])
            try faces.expectSameRows()
        },
        UseCase("what is readable of a damaged store", ["salvage"], ["salvage(_:into:as:)"]) {
            let faces = try Faces.forum()
            for store in [faces.library, faces.tool.folder.path + "/app.sqlite"] {
                let file = try #require(FileHandle(forUpdatingAtPath: store))
                try file.seek(toOffset: 4096 * 3)
                try file.write(contentsOf: Data(repeating: 0xff, count: 64))
                try file.close()
            }
            let report = try await faces.project.salvage(faces.library, into: faces.folder + "/saved.sqlite")
            let document = try faces.moult("salvage", "app.sqlite", "saved.sqlite", exit: report.isWhole ? 0 : 1)
            faces.expectSame(
                document,
                [
                    "version": .string(report.version), "rows": .integer(report.rows), "whole": .bool(report.isWhole),
                    "read": .bool(report.isEverythingRead),
                    "notes": JSONValue(report.notes), "remarks": JSONValue(report.remarks),
                ])
            #expect(report.reason?.contains(report.version) == true)
            let saved = [faces.folder, faces.tool.folder.path].map { $0 + "/saved.sqlite" }
            #expect(try Faces.rows(saved[0]) == Faces.rows(saved[1]))
        },
        UseCase(
            "objects in the quarantine, and back", ["quarantine list", "quarantine restore"],
            ["quarantine(of:limit:)", "restore(quarantined:of:isRehearsal:options:)"]
        ) {
            let faces = try Faces.shrinking()
            // Nothing is there, and nothing is put back.
            let empty = try await faces.project.restore(quarantined: .all, of: faces.library).report
            let none = try faces.moult("quarantine restore", "app.sqlite", "--all")
            faces.expectSame(none, ["count": JSONValue(empty.restored.count), "run": JSONValue(empty.run)])
            let rules = """
                {"format": 1, "rules": [{"name": "titled", "entity": "Post", "predicate": "title != nil",
                "fix": "quarantine"}]}
                """
            for (folder, store) in [
                (faces.folder, faces.library), (faces.tool.folder.path, faces.tool.folder.path + "/app.sqlite"),
            ] {
                try rules.write(toFile: folder + "/rules.json", atomically: true, encoding: .utf8)
                _ = try SQLiteShell.run(store, "UPDATE ZPOST SET ZTITLE = NULL WHERE Z_PK = 2")
            }
            var project = try faces.project
            try project.addRules(contentsOf: faces.folder + "/rules.json")
            _ = try await project.applyFixes(to: faces.library).report
            _ = try faces.moult("validate", "app.sqlite", "--rules", "rules.json", "--fix")
            let objects = try await project.quarantine(of: faces.library)
            let list = try faces.moult("quarantine list", "app.sqlite", isModelNamed: false)
            #expect(list["quarantined"]?.array?.compactMap { $0["pk"]?.integer } == objects.map(\.key))
            #expect(objects.map(\.key) == [2])
            let back = try await faces.project.restore(quarantined: .all, of: faces.library).report
            let document = try faces.moult("quarantine restore", "app.sqlite", "--all")
            faces.expectSame(document, ["count": JSONValue(back.restored.count)])
            #expect(document["restored"]?.array?.compactMap { $0["pk"]?.integer } == back.restored.map(\.key))
            try faces.expectSameRows()
        },
    ]
}
