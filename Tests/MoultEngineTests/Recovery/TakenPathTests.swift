import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What another process makes at a new path in the very moment in which something is to get that name stays.
struct TakenPathTests {
    /// Another program's file comes to be just before the rename to a path.
    private struct Crowded: ForwardingSystem {
        let path: String

        func rename(_ path: String, toUnused newPath: String) throws {
            if newPath == self.path { try real.write(Array("another's".utf8), to: newPath) }
            try real.rename(path, toUnused: newPath)
        }
        func rename(_ path: String, to newPath: String) throws {
            if newPath == self.path { try real.write(Array("another's".utf8), to: newPath) }
            try real.rename(path, to: newPath)
        }
    }

    private func names(_ folder: String) throws -> Set<String> {
        Set(try POSIXSystem().list(folder).filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") })
    }

    private func expectKept(
        at path: String, beside before: Set<String>, code: MigrationError.Code = .usage,
        _ body: (any System) throws -> Void
    ) throws {
        let error = #expect(throws: MigrationError.self) { try body(Crowded(path: path)) }
        #expect(error?.code == code)
        #expect(try POSIXSystem().read(path) == Array("another's".utf8))
        // Nothing of the new store is left either.
        #expect(try names(Path.folder(of: path)) == before.union([Path.name(of: path)]))
    }

    @Test func `a migration into another file`() throws {
        let fixture = try EngineFixture(killable: 20, isWAL: false)
        let target = fixture.folder.path + "/to/new.sqlite"
        try POSIXSystem().makeFolder(fixture.folder.path + "/to")
        try expectKept(at: target, beside: []) { system in
            let prepared = try PreparedMigration(fixture.store, versions: KillableVersions.make(), system: system)
            _ = try Migrator(system: system).run(prepared, into: target)
        }
    }

    @Test func `a salvage`() throws {
        let library = try LibraryStore()
        let path = library.folder.path + "/new.sqlite"
        try expectKept(at: path, beside: names(library.folder.path)) { system in
            _ = try StoreSalvage(library.version, system: system).run(library.path, into: path)
        }
    }

    @Test func `an exported backup`() throws {
        let library = try LibraryStore()
        let backup = try Migrator().backUp(library.path, version: "1")
        let path = library.folder.path + "/backup.tar"
        try expectKept(at: path, beside: names(library.folder.path)) { system in
            _ = try Migrator(system: system).backups(of: library.path).export(backup, to: path)
        }
    }

    @Test func `the start of a mirror`() throws {
        let fixture = try MirrorFixture()
        // The locks of both stores.
        let before = try names(fixture.folder.path).union(["Books.sqlite.moult", "Library.store.moult"])
        try expectKept(at: fixture.second, beside: before) { system in
            _ = try MirroredStore.start(
                .init(fixture.store, .migrateInto(fixture.second)),
                .init(fixture.versions, losses: .asTheVersionsSay()), on: system)
        }
    }

    @Test func `a restore where no store is`() throws {
        let fixture = try EngineFixture()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let store = try POSIXSystem().resolve(fixture.store)
        try POSIXSystem().remove(store)
        try expectKept(at: store, beside: names(fixture.folder.path), code: .locked) { system in
            _ = try Migrator(system: system).rollback(store, to: backup)
        }
    }

    /// The volume of the new store has no space, that of the old one has.
    private struct Full: ForwardingSystem {
        let folder: String

        func space(at path: String) throws -> VolumeSpace {
            path.hasPrefix(folder) ? VolumeSpace(available: 0, volume: 77) : try real.space(at: path)
        }
        func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            guard !copy.hasPrefix(folder) else { throw MigrationError.system("write", copy, error: 28) }
            try real.copy(path, to: copy, rights)
        }
    }

    @Test func `a full volume is the new store's`() throws {
        let fixture = try EngineFixture(killable: 20, isWAL: false)
        let folder = try POSIXSystem().resolve(fixture.folder.path) + "/to"
        try POSIXSystem().makeFolder(folder)
        let system = Full(folder: folder)
        let prepared = try PreparedMigration(fixture.store, versions: KillableVersions.make(), system: system)
        let error = #expect(throws: MigrationError.self) {
            try Migrator(system: system).run(prepared, into: folder + "/new.sqlite")
        }
        #expect(error?.code == .insufficientStorage && error?.place.hasPrefix(folder) == true)
        let text = "\(error?.message ?? "") \(error?.place ?? "")"
        #expect(!text.contains(".part") && !text.contains(fixture.store), "\(text)")
    }
}
