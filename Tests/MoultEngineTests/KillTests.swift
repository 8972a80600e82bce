import Foundation
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Kills a run at random moments; afterwards the store is the whole old one or the whole new one.
@Suite(.saysSeed)
struct KillTests {  // tier: long
    @Test(arguments: ["migrate", "change", "infer"], [false, true])
    func `a killed run leaves the store whole and the next one finishes`(verb: String, isWAL: Bool) throws {
        try KillTrial(verb: verb, rows: 3_000, isWAL: isWAL).run()
    }
}

@Suite(.saysSeed, .enabled(if: Tier.faults.isAsked))
struct KillFaultTests {
    /// The store has 100,000 rows, where there is time; half of the kills wait for the commit.
    @Test(arguments: ["migrate", "change", "infer"], [false, true])
    func `a killed run leaves the store whole and the next one finishes`(verb: String, isWAL: Bool) throws {
        try KillTrial(verb: verb, rows: Tier.faults.isBounded ? 10_000 : 100_000, isWAL: isWAL).run()
    }
}

private struct KillTrial {
    let verb: String
    let fixture: EngineFixture
    let template: ScratchFolder
    let oldHash: String
    let newHash: String
    /// Seconds that an undisturbed run takes in all, and from the beginning of its commit.
    let (whole, commit): (Double, Double)

    init(verb: String, rows: Int, isWAL: Bool) throws {
        self.verb = verb
        fixture =
            try verb == "infer" ? EngineFixture(killable: rows, isWAL: isWAL) : EngineFixture(rows: rows, isWAL: isWAL)
        template = try ScratchFolder()
        oldHash = try fixture.logicalHash()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) {
            try FileManager.default.copyItem(
                atPath: "\(fixture.folder.path)/\(name)", toPath: "\(template.path)/\(name)")
        }
        let start = Date()
        let child = try EngineChild(verb, fixture.store)
        child.wait(for: "commit")
        let atCommit = Date()
        #expect(child.end() == 0)
        (whole, commit) = (Date().timeIntervalSince(start), Date().timeIntervalSince(atCommit))
        newHash = try fixture.logicalHash()
        #expect((newHash == oldHash) == (verb == "migrate"))
    }

    /// Six of them share the time.
    func run() throws {
        var outcomes: [RecoveryOutcome: Int] = [:]
        var (done, random) = (0, SeededGenerator.ofRun(verb))
        for kill in Tier.faults.rounds(quick: 3, full: 100, sharedBy: 6) {
            let share = Double.random(in: 0...1.1, using: &random)
            outcomes[try killOnce(atCommit: kill % 2 == 1, after: share), default: 0] += 1
            done += 1
        }
        let counts = outcomes.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        print("KillTests: \(verb): \(done) kills, healed as: \(counts)")
    }

    /// - Parameter share: of the time of an undisturbed run, or of its commit.
    private func killOnce(atCommit: Bool, after share: Double) throws -> RecoveryOutcome {
        try reset()
        let child = try EngineChild(verb, fixture.store)
        if atCommit { child.wait(for: "commit") }
        Thread.sleep(forTimeInterval: share * (atCommit ? commit : whole))
        child.kill()
        let hash = try fixture.logicalHash()
        #expect(hash == oldHash || hash == newHash)
        let outcome = try Migrator().recover(fixture.store)
        #expect(try fixture.logicalHash() == hash)
        if oldHash != newHash, outcome != .nothing { #expect((hash == newHash) == (outcome == .completed)) }
        let second = try EngineChild(verb, fixture.store)
        #expect(second.end() == 0)
        #expect(try fixture.logicalHash() == newHash)
        #expect(try fixture.sidecarNames().filter { $0 != "damaged" } == IdentityMigrationTests.tidy)
        // A process that dies before SQLite has synchronised its journal leaves one without a header, of which recovery
        // keeps a copy. There is nothing else among the damaged files.
        let damaged = fixture.sidecar + "/damaged"
        for name in FileManager.default.subpaths(atPath: damaged) ?? [] where name.contains("/") {
            let bytes = FileManager.default.contents(atPath: "\(damaged)/\(name)") ?? Data()
            #expect(name.hasSuffix("-journal") && bytes.count > 512, "\(name)")
            #expect(bytes.prefix(8).allSatisfy { $0 == 0 }, "\(name)")
        }
        // The -shm of the writer that died before the first run holds nothing; SQLite's next connection removes it.
        // A store that was the new one already is not opened again, and keeps the log of the run that was killed.
        let isUntouched = verb == "infer" && hash == newHash
        #expect(
            try fixture.namesBeside().filter { !$0.hasSuffix("-shm") && !(isUntouched && $0.hasSuffix("-wal")) } == [])
        for backup in try Migrator().backups(of: fixture.store).list() {
            let kept = try SQLiteShell.run(backup.store, ".sha3sum --schema")
            #expect(kept == oldHash || kept == newHash)
        }
        return outcome
    }

    private func reset() throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: fixture.folder.path) {
            try files.removeItem(atPath: "\(fixture.folder.path)/\(name)")
        }
        for name in try files.contentsOfDirectory(atPath: template.path) {
            try files.copyItem(atPath: "\(template.path)/\(name)", toPath: "\(fixture.folder.path)/\(name)")
        }
    }
}
