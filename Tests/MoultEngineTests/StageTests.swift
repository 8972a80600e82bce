import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// Stages with code: what runs when, on what, and what becomes of it when something fails.
struct StageTests {
    /// Two versions with an attribute that moves into an entity of its own, with more steps where a test wants them.
    private static func registry(
        before: [String: StepCode] = ["copy": StepCode(execute: FlightVersions.copyFlightData)],
        after: [String: StepCode] = [:]
    ) -> MigrationRegistry {
        var registry = MigrationRegistry()
        func steps(_ codes: [String: StepCode]) -> [CodeStep] {
            codes.keys.sorted().map { CodeStep(name: $0, sentence: "Runs \($0).") }
        }
        registry.stages = [
            RegisteredStage(
                from: "V2", to: "V3", name: "decompose", sentence: "Flight data get an entity of their own.",
                before: steps(before), after: steps(after))
        ]
        registry.steps = before.merging(after) { first, _ in first }
        return registry
    }

    private static func prepare(_ path: String, _ registry: MigrationRegistry) throws -> PreparedMigration {
        try PreparedMigration(path, versions: FlightVersions.make(), options: .init(registry: registry))
    }

    private static func store(count: Int = 40) throws -> (folder: ScratchFolder, path: String, before: [String]) {
        let folder = try ScratchFolder()
        let path = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: path, count: count)
        return (folder, path, try FlightVersions.witness(path))
    }

    @Test(arguments: [false, true])
    func `a rehearsal counts the rows that the run counts`(stops: Bool) throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: path, count: 40)
        func prepared() throws -> PreparedMigration {
            try PreparedMigration(
                path, versions: FlightVersions.make(),
                options: .init(registry: FlightVersions.registry(), stopsAtEachVersion: stops))
        }
        let rehearsed = try Migrator().rehearse(try #require(try prepared().migration()), on: path)
        let outcomes = try Migrator().run(try prepared())
        #expect(rehearsed.rows > 0 && rehearsed.rows == outcomes.reduce(0) { $0 + $1.rows })
        #expect(
            try RunHistory(StoreRecords(store: POSIXSystem().resolve(path))).records().reduce(0) { $0 + $1.rows }
                == rehearsed.rows)
    }

    @Test func `an attribute moves into an entity of its own, files of external data with it`() throws {
        let (folder, path, before) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        let prepared = try Self.prepare(path, Self.registry())
        #expect(prepared.plan.passes.map(\.newer.name) == ["V2", "V2", "V3"])
        #expect(prepared.plan.passes.map { $0.steps.map(\.name) } == [[], ["copy"], []])
        #expect(prepared.plan.losses.map(\.place) == ["Aircraft.flightData"])
        let migration = try #require(try prepared.migration())
        _ = try Migrator().rehearse(migration, on: path)
        #expect(try FlightVersions.witness(path) == before)
        let seen = Mutex([MigrationProgress]())
        let outcome = try Migrator().run(
            migration, on: path, .init(onProgress: { now in seen.withLock { $0.append(now) } }))
        #expect(try FlightVersions.witness(path) == before)
        #expect(try SQLiteShell.run(path, "SELECT count(*), count(ZAIRCRAFT) FROM ZFLIGHTDATA") == "36|36\n")
        #expect(
            try SQLiteShell.run(path, "SELECT group_concat(name) FROM pragma_table_info('ZAIRCRAFT')")
                == "Z_PK,Z_ENT,Z_OPT,ZNAME,ZFLIGHT\n")
        #expect(try FlightVersions.witness(#require(outcome.backup).store) == before)
        let fractions = seen.withLock { $0.map(\.fraction) }
        #expect(fractions == fractions.sorted())
        let messages = seen.withLock { $0.compactMap(\.message) }
        let copied = try #require(messages.firstIndex(of: "Runs copy."))
        #expect(messages.firstIndex { $0.contains("Made the backup") }.map { $0 < copied } == true)
        // The objects that the code makes are rows, in the progress, the outcome and the history.
        let written = try #require(seen.withLock { $0.first { $0.message == "Runs copy." } })
        #expect(written.rows >= 36 && written.totalRows >= written.rows, "\(written)")
        let done = seen.withLock { $0.last?.rows }
        #expect(outcome.rows >= 36 && done == outcome.rows)
        #expect(try Self.folderNames(path) == ["backups", "lock", "log.txt", "runs.jsonl"])
    }

    @Test func `a lack of room that a step meets stays one, with the step's name`() throws {
        let (folder, path, before) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        let full = StepCode(execute: { _ in
            throw MigrationError(.insufficientStorage, "The volume ran full.", remedy: "Free some space.")
        })
        let migration = try #require(try Self.prepare(path, Self.registry(before: ["copy": full])).migration())
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: path) }
        #expect(error?.code == .insufficientStorage && error?.message.contains("copy") == true)
        #expect(try FlightVersions.witness(path) == before)
    }

    private static func folderNames(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + ".moult").sorted()
    }

    @Test func `code that the program does not have is asked for before anything is touched`() throws {
        let (folder, path, before) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        var registry = Self.registry()
        registry.steps = [:]
        let prepared = try Self.prepare(path, registry)
        let error = #expect(throws: MigrationError.self) { try prepared.migration() }
        #expect(error?.code == .codeMissing)
        #expect(error?.exitCode == 3)
        #expect(error?.place == "copy")
        #expect(!FileManager.default.fileExists(atPath: path + ".moult"))
        #expect(try FlightVersions.witness(path) == before)
    }

    @Test func `a plan says its stages, its steps in their order with where they run, and how each is undone`() throws {
        let (folder, path, _) = try Self.store(count: 10)
        defer { withExtendedLifetime(folder) {} }
        var registry = Self.registry(after: ["count": StepCode { _ in }])
        registry.stages[0].after[0].undo = "The counter is set back."
        let report = try StoreSession(
            StoreRequest(path, .plan), StoreSession.Context(FlightVersions.make(), registry: registry)
        ).plan()
        let text = report.lines(style: .plain).joined(separator: "\n")
        let parts = [
            "V1 → V2 → V3", "3 passes", "V1 → V2  inferred", "V2 → V3  inferred, stage decompose",
            "Flight data get an entity of their own.", "copy at V2: Runs copy.", "count at V3: Runs count.",
            "The counter is set back.", "Only the backup can restore it",
        ]
        var rest = text[...]
        for part in parts {
            let found = try #require(rest.range(of: part), "\(part) in its place in \(text)")
            rest = rest[found.upperBound...]
        }
        let edge = try #require(report.document["edges"]?.array?.last)
        #expect(edge["stage"]?.string == "decompose")
        let steps = try #require(edge["steps"]?.array)
        #expect(steps.map { $0["name"]?.string } == ["copy", "count"])
        #expect(steps.map { $0["version"]?.string } == ["V2", "V3"])
        #expect(steps.map { $0["undo"]?.string } == [nil, "The counter is set back."])
    }

    // MARK: - Undo

    private struct Refused: Error, CustomStringConvertible { let description = "no such tail number" }

    /// Notes what it does; one may fail, and so may undoing another.
    private final class Notes: Sendable {
        let list = Mutex([String]())
        func add(_ text: String) { list.withLock { $0.append(text) } }

        func step(_ name: String, fails: Bool = false, undoFails: Bool = false) -> StepCode {
            StepCode(
                execute: { context in
                    let count = try context.count(ObjectFetch(entityName: "Aircraft"))
                    self.add("do \(name) \(count) \(context.coordinator.model.entity("FlightData") != nil)")
                    if fails { throw Refused() }
                },
                undo: { context in
                    let count = try context.count(ObjectFetch(entityName: "Aircraft"))
                    self.add(
                        "undo \(name) \(count) \(context.coordinator.model.entity("Aircraft")?.attributes.count ?? 0)")
                    if undoFails { throw Refused() }
                })
        }
    }

    @Test func `steps are undone in reverse on the copies they changed, and the error says what became of each`() throws
    {
        let (folder, path, before) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        let notes = Notes()
        let registry = Self.registry(
            before: ["a": notes.step("a"), "b": notes.step("b", undoFails: true)],
            after: ["c": notes.step("c"), "d": notes.step("d", fails: true), "e": notes.step("e")])
        let migration = try #require(try Self.prepare(path, registry).migration())
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: path) }
        #expect(
            notes.list.withLock { $0 } == [
                "do a 40 true", "do b 40 true", "do c 40 true", "do d 40 true",
                "undo d 40 1", "undo c 40 1", "undo b 40 2", "undo a 40 2",
            ])
        #expect(error?.code == .stageFailed)
        #expect(error?.place == "d")
        #expect(
            error?.message == """
                The step d of decompose failed: It threw Refused. The step d was undone. The step c was undone. \
                The undo of b failed: It threw Refused. The step a was undone.
                """)
        #expect(error?.cause == "no such tail number The undo of b: no such tail number")
        #expect(error?.remedy.contains("Undo by hand what b did") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try FlightVersions.witness(path) == before)
        let record = try #require(try RunHistory(StoreRecords(store: path)).records().last)
        #expect(record.result == .failed)
        #expect(record.error?.contains("The undo of b failed") == true)
        #expect(try Self.folderNames(path) == ["backups", "lock", "log.txt", "runs.jsonl"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + ".moult/backups").count <= 1)
    }

    @Test func `a rehearsal undoes what its steps did elsewhere, and a cancelled run too`() throws {
        let (folder, path, _) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        let notes = Notes()
        let migration = try #require(
            try Self.prepare(path, Self.registry(before: ["a": notes.step("a")], after: ["c": notes.step("c")]))
                .migration())
        _ = try Migrator().rehearse(migration, on: path)
        #expect(notes.list.withLock { $0 } == ["do a 40 true", "do c 40 true", "undo c 40 1", "undo a 40 2"])
        notes.list.withLock { $0 = [] }
        let observer = MigrationObserver(isCancelled: { notes.list.withLock { $0.count == 2 } })
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: path, observer) }
        #expect(error?.code == .cancelled)
        #expect(notes.list.withLock { $0.suffix(2) } == ["undo c 40 1", "undo a 40 2"])
    }

    @Test func `a pass prints what it does, and equals one that does the same`() throws {
        let (folder, path, _) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        func pass(_ registry: MigrationRegistry) throws -> Pass {
            try #require(try Self.prepare(path, registry).migration())
        }
        let outline = try pass(Self.registry()).outline
        #expect(outline.first == "V1 → V3" && outline.contains("  Step copy: Runs copy."), "\(outline)")
        #expect(outline.contains { $0.hasPrefix("Then, bound to the result:") })
        #expect(try pass(Self.registry()) == pass(Self.registry()))
        let more = try pass(Self.registry(after: ["more": StepCode { _ in }]))
        #expect(try pass(Self.registry()) != more, "\(more)")
    }

    @Test func `what a step may not leave is found: a required value gone, a table more`() throws {
        let (folder, path, before) = try Self.store()
        defer { withExtendedLifetime(folder) {} }
        let bad: [String: @Sendable (Connection) throws -> Void] = [
            "a required value is gone": { try $0.execute("UPDATE main.ZAIRCRAFT SET ZNAME = NULL") },
            "a table more": { try $0.execute("CREATE TABLE main.MORE (A)") },
            "an external file that is not there": {
                let cell = ExternalStorage.Cell.file(UUID().uuidString).bytes.map { String(format: "%02x", $0) }
                try $0.execute("UPDATE main.ZFLIGHTDATA SET ZDATA = x'\(cell.joined())'")
            },
            "a link into nowhere": { try $0.execute("UPDATE main.ZAIRCRAFT SET ZFLIGHT = 999") },
            "a transaction left open": { try $0.execute("BEGIN; DELETE FROM main.ZAIRCRAFT") },
        ]
        for (what, body) in bad {
            let registry = Self.registry(after: [
                "spoil": StepCode { try #require($0.coordinator.stores.first).withConnection(body) }
            ])
            let migration = try #require(try Self.prepare(path, registry).migration())
            let error = #expect(throws: MigrationError.self, "\(what)") { try Migrator().run(migration, on: path) }
            // Required values are counted as soon as the code has run.
            let codes: [MigrationError.Code] =
                what == "a required value is gone" ? [.dataConflict] : [.verificationFailed, .stageFailed]
            #expect(error.map { codes.contains($0.code) } == true, "\(what): \(String(describing: error))")
            #expect(try FlightVersions.witness(path) == before)
        }
    }

    @Test func `a save that fails inside a step takes nothing with it`() throws {
        let (folder, path, before) = try Self.store(count: 400)
        defer { withExtendedLifetime(folder) {} }
        let registry = Self.registry(after: [
            "try": StepCode { context in
                let nameless = try context.insert("Aircraft")
                #expect(throws: (any Error).self) { try context.save() }
                try context.delete(nameless)
                let store = try #require(context.coordinator.stores.first)
                // So much that pages go to the file before the end.
                let sql = "PRAGMA main.cache_size = 5; UPDATE ZAIRCRAFT SET ZNAME = hex(zeroblob(500))"
                #expect(throws: Refused.self) {
                    try store.writing {
                        try store.withConnection { try $0.execute(sql) }
                        throw Refused()
                    }
                }
            }
        ])
        let migration = try #require(try Self.prepare(path, registry).migration())
        _ = try Migrator().run(migration, on: path)
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZAIRCRAFT; PRAGMA integrity_check") == "400\nok\n")
        #expect(try FlightVersions.witness(path) == before)
    }
}
