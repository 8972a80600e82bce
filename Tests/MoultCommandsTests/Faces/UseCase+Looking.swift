import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultModel
import MoultTools
import Synchronization
import TestSupport
import Testing

// Cases that change nothing.

extension UseCase {
    static let looking: [UseCase] = [
        UseCase("the version of a store", ["status"], ["status(of:aimingAt:)"]) {
            let faces = try Faces.forum()
            try faces.expectSame(
                faces.moult("status", "app.sqlite"), try await faces.project.status(of: faces.library).json)
        },
        UseCase("what a store holds", ["inspect"], ["inspect(_:withValues:)"]) {
            let faces = try Faces.forum()
            try faces.expectSame(
                faces.moult("inspect", "app.sqlite"), try await faces.project.inspect(faces.library).json)
        },
        UseCase("objects with their values", ["dump"], ["dump(_:of:includingSubentities:_:)"]) {
            let faces = try Faces.forum()
            let lines = Mutex<[String]>([])
            try await faces.project.dump(faces.library, of: "User") { object in
                lines.withLock { $0.append(object.json) }
            }
            let dumped = try faces.tool(
                "dump", "app.sqlite", "--model", "App.xcdatamodeld", "--entity", "User", "--json")
            #expect(lines.withLock { $0 } == dumped.output.split(separator: "\n").map(String.init))
            // Python reads the same objects, in the same order.
            let witness = try Faces.objects(faces.library).filter { $0.hasPrefix("User ") }
            #expect(witness.count == 4 && lines.withLock { $0.count } == 4)
            for (line, object) in zip(lines.withLock { $0 }, witness) {
                let name = try JSONValue(parsing: Array(line.utf8), place: "dump", code: .usage)["values"]?["name"]
                #expect(object.contains(" name=\(AttributeValue.string(name?.string ?? "").witnessText) "))
            }
        },
        UseCase("the plan of a migration", ["plan"], ["plan(for:to:options:withSQL:)"]) {
            let faces = try Faces.forum()
            let plan = try await faces.project.plan(for: faces.library, withSQL: true)
            try faces.expectSame(faces.moult("plan", "app.sqlite", "--sql"), plan.json)
        },
        UseCase("the plan of a migration that is refused", ["plan"], ["plan(for:to:options:withSQL:)"]) {
            let faces = try Faces.shrinking()
            let plan = try await faces.project.plan(for: faces.library)
            try faces.expectSame(faces.moult("plan", "app.sqlite", exit: 3), plan.json)
            #expect(plan.refusal?.code == .lossNotAccepted)
        },
        UseCase("what is wrong with a store", ["doctor"], ["diagnose(_:aimingAt:options:)"]) {
            for faces in [try Faces.forum("UPDATE ZPOST SET ZAUTHOR = 99 WHERE Z_PK = 1"), try Faces.shrinking()] {
                let report = try await faces.project.diagnose(faces.library)
                let document = try faces.moult("doctor", "app.sqlite", exit: report.isWell ? 0 : 1)
                faces.expectSame(
                    document, ["well": .bool(report.isWell), "version": JSONValue(report.version)])
                faces.expectSame(
                    ["findings": document["findings"]?.findings ?? .null], ["findings": report.findings.answer])
            }
        },
        UseCase("the faults of a store", ["validate"], ["validate(_:full:withValues:comparedWith:)"]) {
            let faces = try Faces.shrinking("UPDATE ZPOST SET ZPARENT = 3 - Z_PK WHERE Z_PK < 3")
            for isFull in [false, true] {
                let report = try await faces.project.validate(faces.library, full: isFull)
                let document =
                    isFull
                    ? try faces.moult("validate", "app.sqlite", "--full", exit: report.isSound ? 0 : 1)
                    : try faces.moult("validate", "app.sqlite", exit: report.isSound ? 0 : 1)
                faces.expectSame(document, ["sound": .bool(report.isSound), "version": .string(report.version)])
                faces.expectSame(
                    ["findings": document["findings"]?.findings ?? .null], ["findings": report.findings.answer])
                #expect(report.findings.isEmpty == !isFull, "only a full validation looks for cycles")
            }
        },
        UseCase("the difference between two versions", ["diff"], ["difference(from:to:)"]) {
            let faces = try Faces.forum()
            let document = try faces.moult("diff", "Forum", "Forum 3")
            try faces.expectSame(document, faces.project.difference(from: "Forum", to: "Forum 3").json)
        },
        UseCase("the faults of a model", ["lint"], ["lint(profiles:ignoring:since:lock:countingObjectsOf:)"]) {
            let faces = try Faces.shrinking()
            func line(_ arguments: String...) throws -> JSONValue {
                let result = try faces.tool.run(Tool.path, ["lint", "App.xcdatamodeld", "--json"] + arguments)
                return try JSONValue(parsing: Array(result.output.utf8), place: "lint", code: .usage)
            }
            let all = try await faces.project.lint(countingObjectsOf: faces.library)
            try faces.expectSame(line("--store", "app.sqlite"), all.json)
            let rule = try #require(all.findings.first?.rule)
            let rest = try await faces.project.lint(ignoring: [rule.lowercased()])
            try faces.expectSame(line("--ignore", rule.lowercased()), rest.json)
            #expect(!rest.findings.contains { $0.rule == rule })
        },
        UseCase(
            "the schema that CloudKit needs", ["cloudkit schema"],
            ["cloudKitSchema(of:configuration:isShared:merging:)"]
        ) {
            let faces = try Faces.forum()
            for version in [nil, "Forum 2"] {
                let arguments = version.map { ["--version", $0] } ?? []
                let result = try faces.tool.run(
                    Tool.path, ["cloudkit", "schema", "App.xcdatamodeld", "--json"] + arguments)
                let line = try JSONValue(parsing: Array(result.output.utf8), place: "cloudkit schema", code: .usage)
                try faces.expectSame(line, await faces.project.cloudKitSchema(of: version).json)
            }
        },
        UseCase(
            "what CloudKit's Production lacks", ["cloudkit check"], ["checkCloudKit(schema:configuration:since:)"]
        ) {
            let faces = try Faces.forum()
            let older = try await faces.project.cloudKitSchema(of: "Forum").text
            for folder in [faces.folder, faces.tool.folder.path] {
                try older.write(toFile: folder + "/Forum.ckdb", atomically: true, encoding: .utf8)
            }
            let result = try faces.tool.run(
                Tool.path, ["cloudkit", "check", "App.xcdatamodeld", "--schema", "Forum.ckdb", "--json"])
            #expect(result.exit == 1, "\(result)")
            let line = try JSONValue(parsing: Array(result.output.utf8), place: "cloudkit check", code: .usage)
            let called = try await faces.project.checkCloudKit(schema: faces.folder + "/Forum.ckdb")
            try faces.expectSame(line, called.json)
            #expect(called.findings.contains { $0.gap == "add-field" && $0.recordField?.hasPrefix("CD_") == true })
        },
        UseCase(
            "the difference between two schemas of CloudKit", ["cloudkit diff"],
            ["cloudKitDifference(from:to:configuration:)", "cloudKitDifference(fromFile:toFile:)"]
        ) {
            let faces = try Faces.forum()
            let versions = try await faces.project.cloudKitDifference(from: "Forum", to: "Forum 3")
            try faces.expectSame(faces.moult("cloudkit diff", "Forum", "Forum 3"), versions.json)
            for (file, version) in [("old.ckdb", "Forum"), ("new.ckdb", "Forum 3")] {
                let text = try await faces.project.cloudKitSchema(of: version).text
                for folder in [faces.folder, faces.tool.folder.path] {
                    try text.write(toFile: "\(folder)/\(file)", atomically: true, encoding: .utf8)
                }
            }
            let files = try await Project.cloudKitDifference(
                fromFile: faces.folder + "/old.ckdb", toFile: faces.folder + "/new.ckdb")
            try faces.expectSame(
                faces.moult("cloudkit diff", "old.ckdb", "new.ckdb", isModelNamed: false), files.json)
            // Files know of no renaming identifier.
            let alike = versions.sentences.filter { !$0.contains("is renamed from") }
            #expect(!alike.isEmpty && alike.allSatisfy(files.sentences.contains))
            #expect(files.sentences.count == versions.sentences.count)
        },
        UseCase("the shapes of a model at tags", ["reconstruct"], ["reconstruct(tags:stores:isWriting:)"]) {
            let faces = try Faces.forum()
            let commands = [
                "git init -q", "mkdir aside", "mv 'App.xcdatamodeld/Forum 3.xcdatamodel' aside",
                "mv App.xcdatamodeld/.xccurrentversion aside", "git add App.xcdatamodeld",
                "git -c user.name=T -c user.email=t@example.com commit -q -m A", "git tag v1",
                "mv 'aside/Forum 3.xcdatamodel' aside/.xccurrentversion App.xcdatamodeld",
                "rm -r 'App.xcdatamodeld/Forum 2.xcdatamodel'",
            ]
            for folder in [faces.folder, faces.tool.folder.path] {
                for command in commands {
                    let run = try ChildProcess.run("/bin/sh", ["-c", command], folder: folder)
                    try #require(run.exit == 0, "\(run.output)")
                }
            }
            for isWriting in [false, true] {
                let report = try await faces.project.reconstruct(
                    tags: "v*", stores: faces.library, isWriting: isWriting)
                let arguments = ["reconstruct", "App.xcdatamodeld", "--tags", "v*", "--stores", "app.sqlite", "--json"]
                let made = try faces.tool.run(Tool.path, arguments + (isWriting ? ["--write"] : []))
                try faces.expectSame(
                    JSONValue(parsing: Array(made.output.utf8), place: "reconstruct", code: .usage), report.json)
                #expect(report.shapes.map(\.missingVersion) == [nil, "App v1"] && report.stores.count == 1)
                #expect((report.written == nil) == !isWriting)
            }
        },
        UseCase("every version as JSON and in Xcode's form", ["schema export"], ["exportSchema(to:name:replacing:)"]) {
            let faces = try Faces.forum()
            let names = try await faces.project.exportSchema(to: faces.folder + "/schema")
            let document = try faces.moult("schema export", "schema")
            faces.expectSame(document, ["versions": JSONValue(names)])
            for name in names {
                let files = [faces.folder, faces.tool.folder.path].map { "\($0)/schema/\(name).json" }
                #expect(
                    try String(contentsOfFile: files[0], encoding: .utf8)
                        == String(contentsOfFile: files[1], encoding: .utf8))
            }
        },
        UseCase("a compiled model", ["compile"], ["compile(_:to:module:isRehearsal:)"]) {
            let faces = try Faces.forum()
            let report = try await Project.compile(faces.model, to: faces.folder + "/App.momd")
            let compiled = try faces.tool("compile", "App.xcdatamodeld", "-o", "App.momd", "--json")
            #expect(compiled.exit == 0 && report.isCompiled, "\(compiled)")
            let file = "App.momd/Forum 3.mom"
            #expect(
                FileManager.default.contentsEqual(
                    atPath: "\(faces.folder)/\(file)", andPath: "\(faces.tool.folder.path)/\(file)"))
        },
    ]
}
