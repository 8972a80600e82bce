import Foundation
import Moult
import MoultCare
import MoultTools
import Synchronization
import TestSupport
import Testing

/// What `Project` has beside runs: models, objects, the quarantine, downgrades and mirrors.
@Suite struct ProjectFaceTests {
    private let forum: ForumStore
    private let project: Project
    private var store: String { forum.path }
    private var folder: String { forum.folder.path }

    init() throws {
        forum = try ForumStore()
        project = try Project(models: forum.models)
    }

    @Test func `a downgrade that would lose something changes nothing and names the backup`() async throws {
        _ = try await project.migrate(store).report
        _ = try forum.sql("UPDATE ZTOPIC SET ZVIEWCOUNT = 7 WHERE Z_PK = 1")
        let before = try forum.bytes()
        let report = try await project.downgrade(store, to: "Forum").report
        #expect(report.way == .backup && report.run == nil && report.saved == nil)
        #expect(report.from == "Forum 3" && report.to == "Forum" && !report.losses.isEmpty)
        #expect(report.backup?.version == "Forum")
        #expect(try forum.bytes() == before)
        let backup = try #require(report.backup)
        _ = try await project.restore(backup, to: store).report
        #expect(try forum.sql("SELECT count(*) FROM ZTHREAD") == "6")
    }

    @Test func `a downgrade to a newer version is refused`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.downgrade(store, to: "Forum 2").report
        }
        #expect(error?.code == .usage)
    }

    @Test func `an error in a source is in the report with its line and nothing is written`() async throws {
        let source = folder + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let text = try String(contentsOfFile: source, encoding: .utf8)
        let broken = text.replacingOccurrences(of: "destinationEntity=\"User\"", with: "destinationEntity=\"Nobody\"")
        try #require(broken != text)
        try broken.write(toFile: source, atomically: true, encoding: .utf8)
        let report = try await Project.compile(forum.models, to: folder + "/Out.momd")
        #expect(!report.isCompiled && report.files.isEmpty && report.output.isEmpty)
        let fault = try #require(report.faults.first { $0.kind == .error })
        let line = try #require(broken.components(separatedBy: "\n").firstIndex { $0.contains("\"Nobody\"") })
        #expect(fault.line == line + 1 && fault.description.contains(":\(line + 1): error: "))
        #expect(!FileManager.default.fileExists(atPath: folder + "/Out.momd"))
    }

    @Test func `a rehearsed compilation lists its files and writes nothing`() async throws {
        let report = try await Project.compile(forum.models, to: folder + "/Out.momd", isRehearsal: true)
        #expect(report.isCompiled && report.versions.map(\.name) == ["Forum", "Forum 2", "Forum 3"])
        #expect(report.files.contains(folder + "/Out.momd/VersionInfo.plist"))
        #expect(!FileManager.default.fileExists(atPath: folder + "/Out.momd"))
    }

    @Test func `a rule of lint that does not exist is refused`() async throws {
        let error = await #expect(throws: MigrationError.self) { _ = try await project.lint(ignoring: ["NONE001"]) }
        #expect(error?.code == .usage)
    }

    @Test func `an ignored rule of lint has no findings`() async throws {
        let all = try await project.lint()
        let rule = try #require(all.findings.first?.rule)
        let rest = try await project.lint(ignoring: [rule])
        #expect(rest.findings == all.findings.filter { $0.rule != rule })
        #expect(try all.text(as: .sarif).contains("\"\(rule)\""))
    }

    @Test func `a schema does not replace another model of the same name`() async throws {
        let schema = folder + "/schema"
        try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
        let other = "{\"format\": 1, \"entities\": []}"
        try other.write(toFile: schema + "/Forum.json", atomically: true, encoding: .utf8)
        let error = await #expect(throws: MigrationError.self) { try await project.exportSchema(to: schema) }
        #expect(error?.code == .wouldReplace)
        #expect(try String(contentsOfFile: schema + "/Forum.json", encoding: .utf8) == other)
        #expect(try await project.exportSchema(to: schema, replacing: true).contains("Forum 3"))
    }

    // MARK: - Objects

    @Test func `the objects of a dump are the rows of the store`() async throws {
        let texts = Mutex<[Int64: String]>([:])
        try await project.dump(store, of: "Post") { object in
            #expect(object.entityName == "Post" && object.propertyNames.contains("text"))
            if case .string(let text)? = object.value(of: "text") { texts.withLock { $0[object.key] = text } }
        }
        let rows = try forum.sql("SELECT Z_PK || ' ' || hex(ZTEXT) FROM ZPOST WHERE ZTEXT IS NOT NULL ORDER BY 1")
        let found = texts.withLock { $0 }.map { key, text in
            "\(key) \(text.utf8.map { String(format: "%02X", $0) }.joined())"
        }
        #expect(found.sorted().joined(separator: "\n") == rows)
    }

    @Test func `an error of the caller ends a dump and is the one that is thrown`() async throws {
        struct Enough: Error {}
        let count = Mutex(0)
        await #expect(throws: Enough.self) {
            try await project.dump(store) { _ in
                count.withLock { $0 += 1 }
                throw Enough()
            }
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `an entity that does not exist is refused with the nearest name`() async throws {
        let error = await #expect(throws: MigrationError.self) { try await project.dump(store, of: "Usre") { _ in } }
        #expect(error?.code == .usage && error?.message.contains("Did you mean User?") == true)
    }

    // MARK: - Quarantine and mirror

    @Test func `an empty quarantine has nothing to put back`() async throws {
        #expect(try await project.quarantine(of: store).isEmpty)
        let error = await #expect(throws: MigrationError.self) {
            _ = try await project.restore(quarantined: .objects([99]), of: store).report
        }
        #expect(error?.code == .usage)
    }

    @Test func `what is written to the first store is in the mirror after a sync`() async throws {
        let second = folder + "/second.sqlite"
        let mirror = try await project.startMirror(of: store, at: second, to: "Forum 2")
        #expect(try await mirror.status().isBehind == false)
        _ = try forum.sql("UPDATE ZPOST SET ZTEXT = 'later', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        #expect(try await mirror.status().isBehind)
        #expect(try await project.mirror(of: store).sync().updated == 1)
        #expect(try SQLiteShell.run(second, "SELECT ZBODY FROM ZPOST WHERE Z_PK = 1") == "later\n")
        let status = try await mirror.status()
        #expect(!status.isBehind && status.from == "Forum" && status.to == "Forum 2" && !status.isCutOver)
    }

    @Test func `a store without a mirror is refused`() async throws {
        let error = await #expect(throws: MigrationError.self) { _ = try await project.mirror(of: store) }
        #expect(error?.code == .usage)
    }
}
