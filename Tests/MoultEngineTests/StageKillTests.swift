import Foundation
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Kills a migration of three stages with code between them at random moments; afterwards every aircraft
/// has its data, whatever the version, and the next run finishes.
@Suite(.saysSeed)
struct StageKillTests {  // tier: long
    @Test(arguments: ["stages", "stops"])
    func `a killed decomposition loses nothing and the next run finishes it`(verb: String) throws {
        try StageKillTrial(verb: verb, count: 120).run(kills: 3)
    }
}

@Suite(.saysSeed, .enabled(if: Tier.faults.isAsked))
struct StageKillFaultTests {
    @Test(arguments: ["stages", "stops"])
    func `a killed decomposition loses nothing and the next run finishes it`(verb: String) throws {
        try StageKillTrial(verb: verb, count: Tier.faults.isBounded ? 500 : 2_000).run(kills: 200)
    }
}

private struct StageKillTrial {
    let verb: String
    let folder: ScratchFolder
    let template: ScratchFolder
    let store: String
    /// By plain SQL over the old store.
    let before: [String]
    let files: Set<String>
    /// Seconds that an undisturbed run takes.
    let whole: Double

    init(verb: String, count: Int) throws {
        self.verb = verb
        (folder, template) = (try ScratchFolder(), try ScratchFolder())
        store = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: store, count: count, external: 4)
        before = try FlightVersions.witness(store)
        files = try Self.externalFiles(of: store)
        #expect(before.count == count && files.count == 4)
        try Self.copy(folder.path, to: template.path)
        let start = Date()
        #expect(try EngineChild(verb, store).end() == 0)
        whole = Date().timeIntervalSince(start)
        #expect(try FlightVersions.witness(store) == before)
    }

    /// Only a kill that met the run alive counts.
    func run(kills: Int) throws {
        var found: [String: Int] = [:]
        var (done, tries, random) = (0, 0, SeededGenerator.ofRun(verb))
        for _ in Tier.faults.rounds(quick: kills * 4, full: kills * 4, sharedBy: 2) where done < kills {
            tries += 1
            guard let result = try killOnce(held: tries % 2 == 1, &random) else { continue }
            found[result, default: 0] += 1
            done += 1
        }
        let counts = found.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        print("StageKillTests: \(verb): \(done) kills of a living run in \(tries), left and healed as: \(counts)")
        #expect(done == kills || Tier.faults.isBounded, "\(done) of \(kills)")
    }

    /// - Parameter held: whether the run waits for its death at the beginning of a phase. Such a kill meets it alive
    ///   however busy the machine is; the others may come too late.
    /// - Returns: the version that the killed run left, and as what it was healed; nil where it had ended by itself.
    private func killOnce(held: Bool, _ random: inout SeededGenerator) throws -> String? {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        }
        try Self.copy(template.path, to: folder.path)
        // The moment is random within a random phase, or within all.
        let phases = ["lock", "backup", "copy", "change", "verify", "commit"]
        let phase = held || .random(in: 0..<7, using: &random) > 0 ? phases.randomElement(using: &random) : nil
        let child = try EngineChild(verb, store, stoppingAt: held ? phase : nil)
        if let phase { child.wait(for: phase) }
        if !held {
            Thread.sleep(forTimeInterval: .random(in: 0...(phase == nil ? whole : whole / 10), using: &random))
        }
        let wasAlive = child.process.isRunning
        child.kill()
        let left = try version()
        #expect(["V1", "V3"].contains(left) || verb == "stops" && left == "V2")
        #expect(try FlightVersions.witness(store) == before)
        let outcome = try Migrator().recover(store)
        #expect(try version() == left)
        #expect(try FlightVersions.witness(store) == before)
        #expect(try EngineChild(verb, store).end() == 0)
        #expect(try version() == "V3")
        #expect(try FlightVersions.witness(store) == before)
        try expectTidy()
        return wasAlive ? "\(left) \(outcome)" : nil
    }

    /// By the tables alone.
    private func version() throws -> String {
        let columns = try SQLiteShell.run(store, "SELECT group_concat(name) FROM pragma_table_info('ZAIRCRAFT')")
        let hasEntity = try SQLiteShell.run(
            store, "SELECT count(*) FROM sqlite_master WHERE name = 'ZFLIGHTDATA'; PRAGMA integrity_check")
        switch (columns.contains("ZFLIGHTDATA"), hasEntity) {
        case (true, "0\nok\n"): return "V1"
        case (true, "1\nok\n"): return "V2"
        case (false, "1\nok\n"): return "V3"
        default: return "\(columns) \(hasEntity)"
        }
    }

    /// No working file stays, and no file of external data that no row names.
    private func expectTidy() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: store + ".moult").sorted()
        #expect(names == ["backups", "lock", "log.txt", "runs.jsonl"])
        let cells = try SQLiteShell.run(store, "SELECT hex(ZDATA) FROM ZFLIGHTDATA WHERE hex(ZDATA) LIKE '02%'")
        let referenced = Set(
            cells.split(separator: "\n").map { FlightVersions.text(ofHexadecimal: $0.dropFirst(2).dropLast(2)) })
        #expect(referenced.count == 4)
        #expect(try Self.externalFiles(of: store) == referenced)
    }

    private static func externalFiles(of store: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: ExternalStorage(store: store).folder))
    }

    private static func copy(_ folder: String, to other: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(other)/\(name)")
        }
    }
}
