import Foundation
import Testing

@testable import Parity

/// The comparison finds nothing between equal stores, and every kind of difference where one is planted.
@Suite(.serialized) struct PlantedTests {
    private let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("parity-\(UUID().uuidString)")
    private let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Models")

    /// The command, of the build that these tests are a part of.
    private var moult: String {
        ProcessInfo.processInfo.environment["MOULT_PROGRAM"]
            ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("moult").path
    }

    private func comparison(_ program: String? = nil) throws -> Comparison {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return Comparison(moult: Program(program ?? moult), sqlite: Program("/usr/bin/sqlite3"), scratch: scratch)
    }

    /// `moult`, with what it prints for a verb changed by sed.
    private func moult(changing verb: String, by sed: String) throws -> String {
        let file = scratch.appendingPathComponent("moult-\(UUID().uuidString)")
        let script =
            "#!/bin/sh\nif [ \"$1\" = \(verb) ]; then '\(moult)' \"$@\" | sed '\(sed)'; else exec '\(moult)' \"$@\"; fi\n"
        try Data(script.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    /// A store of the first version that was migrated to the second, with the older one.
    private func migrated(_ comparison: Comparison) throws -> StoreCase {
        let model = try CompiledModel(models.appendingPathComponent("Everything.xcdatamodeld"), comparison)
        let older = try comparison.folder().appendingPathComponent("store.sqlite")
        _ = try comparison.moult([
            "create", older.path, "--model", model.bundle.path, "--version", "Everything", "--fill", "12",
        ])
        let store = try comparison.copy(older)
        _ = try comparison.moult(["migrate", store.path, "--model", model.bundle.path, "--to", "Everything 2"])
        return StoreCase(name: "planted", store: store, bundle: model.bundle, version: "Everything 2", older: older)
    }

    private func kinds(_ checks: [Check]) -> Set<Difference.Kind> {
        for check in checks { #expect(check.error == nil, "\(check.kind): \(check.error ?? "")") }
        return Set(checks.flatMap(\.differences).map(\.kind))
    }

    @Test func `Moult on both sides is equal, for each check`() throws {
        let comparison = try comparison()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let checks = comparison.checks(of: try migrated(comparison))
        #expect(checks.map(\.kind) == [.opens, .objects, .saves, .migrates])
        #expect(checks.allSatisfy { $0.compared > 0 })
        #expect(kinds(checks) == [])
        #expect(comparison.swiftData().isEqual)
    }

    @Test(arguments: [
        (Difference.Kind.table, "DROP TABLE Z_7FRIENDS"),
        (.column, "ALTER TABLE ZTHING ADD COLUMN ZEXTRA VARCHAR"),
        (.index, "DROP INDEX ZTHING_ZBOX_INDEX"),
        (.row, "DELETE FROM ZTAG WHERE Z_PK = 2"),
        (.value, "UPDATE ZBOX SET ZLABEL = 'other' WHERE Z_PK = 1"),
        (.value, "UPDATE ZBOX SET ZLABEL = ZLABEL || ' '"),
        (.value, "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Box'"),
    ])
    func `a difference of a kind in the tables of a migrated store is found`(_ kind: Difference.Kind, _ sql: String)
        throws
    {
        let comparison = try comparison()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let one = try migrated(comparison)
        let before = try StoreTables(one.store, comparison.sqlite)
        _ = try comparison.sqlite([one.store.path, sql])
        let after = try StoreTables(one.store, comparison.sqlite)
        #expect(after.differences(from: before).contains { $0.kind == kind })
        #expect(before.differences(from: after).contains { $0.kind == kind })
        let check = comparison.checks(of: one).first { $0.kind == .migrates }
        #expect(check?.differences.contains { $0.kind == kind } == true)
    }

    @Test func `an object that one side misses, and a value that it reads otherwise, are found`() throws {
        let comparison = try comparison()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let one = try migrated(comparison)
        for (sed, kind) in [
            ("/\"entity\":\"Tag\",\"pk\":2,/d", Difference.Kind.object),
            ("s/\"required\":42/\"required\":43/", .value),
            ("s/\"aDate\":\"2/\"aDate\":\"1/", .value),
            ("s/\"aUUID\":\"[0-9A-F]/\"aUUID\":\"X/", .value),
        ] {
            let planted = try self.comparison(try moult(changing: "dump", by: sed))
            #expect(kinds([planted.checks(of: one)[1]]) == [kind], "\(sed)")
        }
    }

    @Test func `a store of another version, a wrong hash and an unsound save are found`() throws {
        let comparison = try comparison()
        defer { try? FileManager.default.removeItem(at: scratch) }
        var one = try migrated(comparison)
        let hash = try self.comparison(try moult(changing: "hash", by: "s/\"Box\":\"./\"Box\":\"+/g"))
        #expect(kinds([hash.hashes(of: "Everything 2", in: one.bundle)]) == [.hash])
        let planted = #"{"severity":"error","place":"Box","message":"planted"}"#
        let finding = #"s/"findings":\[]/"findings":[\#(planted)]/;s/"findings":\[{/"findings":[\#(planted),{/"#
        let unsound = try self.comparison(try moult(changing: "validate", by: finding))
        #expect(kinds([unsound.checks(of: one)[2]]) == [.soundness])
        one = StoreCase(name: "older", store: try #require(one.older), bundle: one.bundle, version: "Everything 2")
        #expect(kinds([comparison.checks(of: one)[0]]) == [.metadata])
    }

    @Test(arguments: [
        ("2001-01-01T00:00:00.000000000Z", 0.0), ("2000-12-31T23:59:59.500000000Z", -0.5),
        ("2024-02-29T12:00:00.250000000Z", 730_900_800.25), ("1969-07-20T20:17:40.000000000Z", -992_490_140),
    ])
    func `dates of a dump are seconds since 2001, to the nanosecond`(_ text: String, _ seconds: Double) {
        #expect(DumpedDate.seconds(text) == seconds)
        #expect(DumpedDate.seconds(String(text.dropLast())) == nil)
    }

    @Test func `a report is read back as it was written`() throws {
        var report = Report(coreData: "Moult's own", system: "a system", moult: "moult 1")
        report.checks = [
            Check(
                kind: .opens, subject: "S", differences: [Difference(.hash, "E", moult: "a", apple: "b")], compared: 1)
        ]
        let again = try JSONDecoder().decode(Report.self, from: try report.json())
        #expect(try again.json() == report.json())
        #expect(!again.isEqual)
    }
}
