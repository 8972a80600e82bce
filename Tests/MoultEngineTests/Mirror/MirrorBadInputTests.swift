import Foundation
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// What is wrong is said with its place, and both stores stay as they were.
struct MirrorBadInputTests {  // tier: long
    private func failure(_ body: () throws -> Void) -> MigrationError? {
        #expect(throws: MigrationError.self) { try body() }
    }

    @Test func `there is one mirror, at a path where nothing was`() throws {
        let fixture = try MirrorFixture()
        #expect(failure { _ = try fixture.mirror() }?.code == .usage)
        #expect(FileManager.default.createFile(atPath: fixture.second, contents: Data("mine".utf8)))
        #expect(failure { _ = try fixture.start() }?.place == fixture.second)
        #expect(FileManager.default.contents(atPath: fixture.second) == Data("mine".utf8))
        try FileManager.default.removeItem(atPath: fixture.second)
        _ = try fixture.start()
        #expect(failure { _ = try fixture.start() }?.message.contains(fixture.second) == true)
        try fixture.expectEqual()
    }

    /// The folder of external data is named after the file without its extension.
    @Test func `a second store that would share the first one's external data is refused`() throws {
        let fixture = try MirrorFixture()
        let name = URL(fileURLWithPath: fixture.store).deletingPathExtension().path
        let error = failure {
            _ = try MirroredStore.start(
                .init(fixture.store, .migrateInto(name + ".other")),
                .init(fixture.versions, losses: .asTheVersionsSay()))
        }
        #expect(error?.code == .usage && error?.message.contains("external data") == true)
    }

    @Test func `a start that died is begun anew`() throws {
        let fixture = try MirrorFixture()
        _ = try fixture.start()
        let path = fixture.store + ".moult/mirror.json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacingOccurrences(of: "\"mirroring\"", with: "\"starting\"")
            .write(toFile: path, atomically: true, encoding: .utf8)
        #expect(failure { _ = try fixture.mirror() }?.code == .usage)
        _ = try fixture.start()
        try fixture.expectEqual()
    }

    @Test func `a second store that was moved is found where somebody says`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        try fixture.write(seed: 2)
        let moved = fixture.folder.path + "/elsewhere.store"
        try FileManager.default.moveItem(atPath: fixture.second, toPath: moved)
        #expect(failure { _ = try mirror.synchronise() }?.code == .fileNotFound)
        #expect(failure { try mirror.moveSecond(to: fixture.store) }?.code == .mirrorDiverged)
        try mirror.moveSecond(to: moved)
        #expect(try fixture.mirror().verify().isEqual)
    }

    @Test func `a first store that is another one is not followed`() throws {
        let fixture = try MirrorFixture()
        let stranger = try MirrorFixture(seed: 77)
        var mirror = try fixture.start()
        let before = try MirrorFixture.hash(MirrorFixture.copy(fixture.second, to: fixture.folder.path + "/a"))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.store + suffix) }
        _ = try SQLiteShell.run(stranger.store, "VACUUM INTO '\(fixture.folder.path)/stranger'")
        try FileManager.default.removeItem(atPath: fixture.store)
        try FileManager.default.moveItem(atPath: fixture.folder.path + "/stranger", toPath: fixture.store)
        let error = failure { _ = try mirror.synchronise() }
        #expect(error?.code == .mirrorDiverged)
        #expect(error?.message.contains("UUID") == true)
        #expect(try MirrorFixture.hash(MirrorFixture.copy(fixture.second, to: fixture.folder.path + "/b")) == before)
    }

    @Test(arguments: [true, false])
    func `a first store that was taken back is not followed unless somebody says so`(history: Bool) throws {
        let fixture = try MirrorFixture(history: history)
        var mirror = try fixture.start()
        _ = try SQLiteShell.run(fixture.store, "VACUUM INTO '\(fixture.folder.path)/old'")
        try fixture.write(saves: 8, seed: 4)
        _ = try mirror.synchronise()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.store + suffix) }
        try FileManager.default.moveItem(atPath: fixture.folder.path + "/old", toPath: fixture.store)
        let error = failure { _ = try mirror.synchronise() }
        #expect(error?.code == .mirrorDiverged)
        #expect(error?.message.contains("ahead") == true)
        _ = try mirror.synchronise(overwriting: true)
        #expect(try mirror.verify().isEqual)
    }

    @Test func `a first store that was migrated, and a mapping that is another, are refused`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        let other = try MirroredVersions.make(to: "back")
        let renamed = ModelVersions(versions: [
            other.versions[0], ModelVersion(names: ["on"], model: other.versions[1].model),
        ])
        #expect(failure { _ = try MirroredStore(of: fixture.store, .init(renamed)) }?.code == .planStale)
        _ = try Migrator().run(
            try PreparedMigration(
                fixture.store, versions: fixture.versions, options: .init(losses: .asTheVersionsSay())))
        #expect(failure { _ = try mirror.synchronise() }?.code == .mirrorDiverged)
    }

    @Test func `a store that does not fit gets no mirror`() throws {
        let fixture = try MirrorFixture()
        let unique = try fixture.withUniqueWords()
        _ = try SQLiteShell.run(
            fixture.store,
            """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD) SELECT Z_MAX + value, Z_ENT, 1, 'same' FROM Z_PRIMARYKEY,
                generate_series(1, 2) WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 2 WHERE Z_NAME = 'Tag'
            """)
        let error = failure {
            _ = try MirroredStore.start(
                .init(fixture.store, .migrateInto(fixture.second)), .init(unique, losses: .asTheVersionsSay()))
        }
        #expect(error?.code == .dataConflict)
        #expect(!FileManager.default.fileExists(atPath: fixture.second))
        #expect(failure { _ = try fixture.mirror() }?.code == .usage)
    }
}
