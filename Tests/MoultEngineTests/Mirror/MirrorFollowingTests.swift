import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// What is written to the first store, by contexts as an app does, is in the second as a fresh migration would have it.
struct MirrorFollowingTests {  // tier: long
    @Test(arguments: ["on", "back"], [true, false])
    func `random writes are followed, from history or by a scan`(version: String, history: Bool) throws {
        let fixture = try MirrorFixture(to: version, history: history)
        var mirror = try fixture.start()
        try fixture.expectEqual("at the start")
        for round in 0..<3 {
            try fixture.write(seed: UInt64(100 + round))
            let outcome = try mirror.synchronise()
            #expect(outcome.means == (history ? .history : .scan))
            #expect(outcome.reason == nil)
            try fixture.expectEqual("after round \(round)")
        }
        let again = try mirror.synchronise()
        #expect(again.changes.all == 0)
        let verified = try fixture.mirror().verify()
        #expect(verified.isEqual, "\(verified)")
        #expect(verified.rows > 30)
    }

    @Test(arguments: ["on", "back"])
    func `no trigger that an app has put on the second store fires`(version: String) throws {
        let fixture = try MirrorFixture(to: version)
        var mirror = try fixture.start()
        let triggers = ["Z_PRIMARYKEY", "Z_METADATA"].flatMap { table in
            ["INSERT", "UPDATE", "DELETE"].map { event in
                """
                CREATE TRIGGER app_\(table)_\(event) BEFORE \(event) ON \(table)
                    BEGIN SELECT RAISE(ABORT, 'fired'); END;
                """
            }
        }
        _ = try SQLiteShell.run(fixture.second, triggers.joined())
        try fixture.write(seed: 41)
        #expect(try mirror.synchronise().changes.all > 0)
        #expect(
            try SQLiteShell.run(fixture.second, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'app%'") == "6\n")
    }

    @Test func `a store that is being written to is followed to one of its moments`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        let writer = try RandomWriter(fixture.store, model: fixture.first, seed: 9)
        for _ in 0..<5 {
            try writer.save(writes: 10)
            _ = try mirror.synchronise()
        }
        writer.close()
        try fixture.expectEqual()
    }

    /// A restore leaves the counters as high as they were, so that they say nothing.
    @Test(arguments: [true, false])
    func `a store that was restored and written to again is not taken for one that has gone on`(history: Bool) throws {
        let fixture = try MirrorFixture(history: history)
        var mirror = try fixture.start()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        try fixture.write(seed: 5)
        _ = try mirror.synchronise()
        _ = try Migrator().rollback(fixture.store, to: backup)
        for seed in UInt64(6)...7 {
            let error = #expect(throws: MigrationError.self) { _ = try mirror.synchronise() }
            #expect(error?.code == .mirrorDiverged && error?.message.contains("restored") == true)
            #expect(throws: MigrationError.self) { _ = try mirror.status() }
            try fixture.write(seed: seed)
        }
        _ = try mirror.synchronise(overwriting: true)
        try fixture.expectEqual()
        try fixture.write(seed: 8)
        _ = try mirror.synchronise()
        try fixture.expectEqual()
    }

    @Test func `history that the store has let go of leads to a scan`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        try fixture.write(seed: 5)
        _ = try SQLiteShell.run(fixture.store, "DELETE FROM ACHANGE; DELETE FROM ATRANSACTION")
        #expect(try mirror.synchronise().means == .scan)
        try fixture.expectEqual()
        try fixture.write(seed: 6)
        #expect(try mirror.synchronise().means == .history)
        try fixture.expectEqual()
    }

    @Test func `what SQL wrote with its counters is followed by a scan`() throws {
        let fixture = try MirrorFixture(history: false, saves: 10)
        var mirror = try fixture.start()
        _ = try SQLiteShell.run(
            fixture.store,
            """
            UPDATE ZBOOK SET ZTITLE = 'by SQL', Z_OPT = Z_OPT + 1 WHERE Z_PK IN (SELECT Z_PK FROM ZBOOK LIMIT 3);
            DELETE FROM ZCOVER WHERE Z_PK IN (SELECT max(Z_PK) FROM ZCOVER);
            UPDATE ZBOOK SET ZCOVER = NULL, Z_OPT = Z_OPT + 1 WHERE ZCOVER NOT IN (SELECT Z_PK FROM ZCOVER);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD)
                SELECT Z_MAX + 1, Z_ENT, 1, 'new' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Tag'
            """)
        #expect(try mirror.status().isBehind)
        #expect(try mirror.synchronise().changes.all > 0)
        #expect(try SQLiteShell.run(fixture.second, "SELECT count(*) FROM ZTAG WHERE ZWORD = 'new'") == "1\n")
        try fixture.expectEqual()
        #expect(try !mirror.status().isBehind)
    }

    @Test func `an object that was inserted without history is followed, whatever was written after it`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        for (word, isFollowed) in [("alone", false), ("before others", true)] {
            _ = try SQLiteShell.run(
                fixture.store,
                """
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD)
                    SELECT Z_MAX + 1, Z_ENT, 1, '\(word)' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag';
                UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Tag'
                """)
            if isFollowed { try fixture.write(seed: 9) }
            let status = try mirror.status()
            #expect(status.isBehind && status.means == .history)
            _ = try mirror.synchronise()
            let count = "SELECT count(*) FROM ZTAG WHERE ZWORD = '\(word)'"
            #expect(try SQLiteShell.run(fixture.store, count) == "1\n", "The random writes spare it.")
            #expect(try SQLiteShell.run(fixture.second, count) == "1\n")
            try fixture.expectEqual(word)
            #expect(try !mirror.status().isBehind)
        }
    }

    @Test func `the second store says what is still to come`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        #expect(try mirror.status().transactions == 0)
        try fixture.write(saves: 4, seed: 3)
        let status = try mirror.status()
        #expect(status.transactions == 4 && status.means == .history && status.isBehind)
        _ = try mirror.synchronise()
        #expect(try !mirror.status().isBehind)
    }

    @Test func `a comparison finds what was changed by hand, row by row`() throws {
        let fixture = try MirrorFixture(saves: 10)
        var mirror = try fixture.start()
        let key = try SQLiteShell.run(fixture.second, "SELECT min(Z_PK) FROM ZBOOK")
        _ = try SQLiteShell.run(fixture.second, "UPDATE ZBOOK SET ZTITLE = 'mine' WHERE Z_PK = \(key)")
        let found = try fixture.mirror().verify()
        #expect(!found.isEqual && found.obstacle != nil)
        #expect(found.differences.map(\.table) == ["ZBOOK"])
        #expect(found.differences.first?.keys.map { "\($0)\n" } == [key])
        let error = #expect(throws: MigrationError.self) { _ = try mirror.synchronise() }
        #expect(error?.code == .mirrorDiverged)
        #expect(error?.place.contains("ZBOOK") == true)
        #expect(try SQLiteShell.run(fixture.second, "SELECT ZTITLE FROM ZBOOK WHERE Z_PK = \(key)") == "mine\n")
        _ = try mirror.synchronise(overwriting: true)
        try fixture.expectEqual()
    }
}
