import FaultCases
import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import MoultTesting
import TestSupport
import Testing

/// With exactly the room that a run announces, and with no byte more, it does not fill the volume.
struct RoomTests {  // tier: long
    /// A machine that keeps SQLite's own files beside the store's, and says how much room there is.
    private struct Machine: ForwardingSystem {
        let temporaryFolder: String
        var available: Int64?

        func space(at path: String) throws -> VolumeSpace {
            let real = try real.space(at: path)
            return VolumeSpace(available: available ?? real.available, volume: real.volume)
        }
    }

    private struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let prepare: @Sendable (_ store: String) throws -> Void
        let run: @Sendable (_ store: String, _ system: any System) throws -> Void
    }

    private static let kinds = Result { try small() + large() }

    private static func small() throws -> [Kind] {
        try FaultCases.all.map { Kind(testDescription: $0.name, prepare: $0.prepare, run: $0.run) }
    }

    /// In a large store what is announced for small files does not hide what is missing for the pages.
    private static func large() throws -> [Kind] {
        let versions = try KillableVersions.make()
        @Sendable func make(_ store: String) throws {
            try SampleStore.make(at: store, of: versions, count: 10_000)
            _ = try SQLiteShell.run(store, "PRAGMA journal_mode = DELETE")
        }
        let others = [
            Kind(testDescription: "large, backup", prepare: make) { store, system in
                _ = try Migrator(system: system).backUp(store, version: "1")
            },
            Kind(testDescription: "large, rehearsal", prepare: make) { store, system in
                let prepared = try PreparedMigration(store, versions: versions, system: system)
                if let migration = try prepared.migration() {
                    _ = try Migrator(system: system).rehearse(migration, on: store)
                }
            },
            Kind(testDescription: "large, free pages") { store in
                try make(store)
                _ = try SQLiteShell.run(store, "DELETE FROM ZITEM WHERE Z_PK > 2000; DELETE FROM ZLINK")
            } run: { store, system in
                let repair = try StoreRepair(store, at: versions.versions[0], rules: [.space], system: system)
                if let migration = repair.migration { _ = try Migrator(system: system).run(migration, on: store) }
            },
        ]
        return try others + changes()
            + [(false, false), (true, false), (true, true), (false, true)].map { isWAL, isFrugal in
                Kind(testDescription: "large\(isWAL ? ", WAL" : "")\(isFrugal ? ", frugal" : "")") { store in
                    try SampleStore.make(at: store, of: versions, count: 10_000)
                    _ = try SQLiteShell.run(store, "PRAGMA journal_mode = \(isWAL ? "WAL" : "DELETE")")
                } run: { store, system in
                    let prepared = try PreparedMigration(store, versions: versions, system: system)
                    _ = try Migrator(options: MigrationOptions(isFrugal: isFrugal), system: system).run(prepared)
                }
            }
    }

    /// A way to migrate.
    private enum Way: String, CaseIterable { case plain, frugal, into, budget, deferred }

    /// Each kind of change that takes room of its own, in each way.
    private static func changes() throws -> [Kind] {
        let item = "name String, rate Integer32, note String, box > Box.items"
        let changes = [
            ("an index", item.replacing("name String", with: "name String modifier=x indexed")),
            ("a text for every row", item + ", mark String required =a.text.of.some.length"),
            ("a removed attribute", item.replacing(", note String", with: "")),
            ("numbers of another type", item.replacing("Integer32", with: "Double")),
            ("pairs", item.replacing("box >", with: "box >>")),
        ]
        return try changes.flatMap { name, new in
            let versions = try ModelVersions(
                "Box = title String, items >> Item.box\nItem = \(item)",
                "Box = title String, items >> Item.box\nItem = \(new)")
            return Way.allCases.map { way in
                Kind(testDescription: "large, \(name), \(way)") { store in
                    try SampleStore.make(at: store, of: versions, count: 10_000)
                    _ = try SQLiteShell.run(store, "PRAGMA journal_mode = DELETE")
                } run: { store, system in
                    var options = PreparedMigration.Options(losses: .asTheVersionsSay())
                    options.defersWork = way == .deferred
                    if way == .budget { options.choice = .normalised }
                    let prepared = try PreparedMigration(store, versions: versions, options: options, system: system)
                    let migrator = Migrator(options: MigrationOptions(isFrugal: way == .frugal), system: system)
                    switch way {
                    case .into: _ = try migrator.run(prepared, into: Path.folder(of: store) + "/new.sqlite")
                    case .budget: _ = try migrator.run(prepared, within: .all)
                    case .plain, .frugal, .deferred: _ = try migrator.run(prepared)
                    }
                }
            }
        }
    }

    /// A store of that kind in a folder of a volume, which the kind may empty.
    private func prepare(_ kind: Kind, on volume: SmallVolume) throws -> String {
        let folder = volume.path + "/field"
        try POSIXSystem().makeFolder(folder)
        try kind.prepare(folder + "/store.sqlite")
        try POSIXSystem().makeFolder(volume.path + "/temporary")
        return folder + "/store.sqlite"
    }

    /// The error that a machine without any room gets; nil where nothing is asked for.
    private func refusal(_ kind: Kind, _ store: String, on volume: SmallVolume) throws -> MigrationError? {
        do {
            try kind.run(store, Machine(temporaryFolder: volume.path + "/temporary", available: 0))
            return nil
        } catch let error as MigrationError {
            return error
        }
    }

    /// The number of that error.
    private func announced(_ kind: Kind, _ store: String, on volume: SmallVolume) throws -> Int? {
        try refusal(kind, store, on: volume).flatMap(Self.needed)
    }

    /// Whether a run that does not ask ends well with so much room.
    private func fits(_ kind: Kind, in room: Int) throws -> Bool {
        guard let volume = try SmallVolume(kilobytes: 64_000) else { return false }
        let store = try prepare(kind, on: volume)
        do {
            let boasting = Machine(temporaryFolder: volume.path + "/temporary", available: .max)
            try volume.withRoom(room) { try kind.run(store, boasting) }
            return true
        } catch let error as MigrationError where error.code == .insufficientStorage {
            return false
        }
    }

    /// What a run asks for that is refused before it begins.
    private static func needed(_ error: MigrationError) -> Int? {
        guard error.code == .insufficientStorage, AnnouncedRoom.bytes(after: "needs", in: error.message) != nil else {
            return nil
        }
        return error.neededSpace.map { Int($0) }
    }

    @Test func `every kind of migration has enough with the room that it announces`() throws {
        var tried = 0
        let kinds = try Self.kinds.get().enumerated().filter { Tier.faults.isAsked || $0.offset % 3 == 0 }
        for kind in kinds.map(\.element) {
            guard let volume = try SmallVolume(kilobytes: 64_000) else { return }
            let store = try prepare(kind, on: volume)
            var room = try announced(kind, store, on: volume)
            if room != nil { tried += 1 }
            let system = Machine(temporaryFolder: volume.path + "/temporary")
            // A way that stops at each version asks for the room of each when it comes to it.
            for _ in 0..<5 {
                guard let needed = room else { break }
                do {
                    // A page of the volume is the least that it gives.
                    try volume.withRoom((needed + 4_095) / 4_096 * 4_096) { try kind.run(store, system) }
                    room = nil
                } catch let error as MigrationError {
                    room = Self.needed(error)
                    if room == nil { Issue.record("\(kind.testDescription): \(needed) bytes are not enough: \(error)") }
                }
            }
            #expect(room == nil, "\(kind.testDescription) asks for more and more")
        }
        #expect(tried > kinds.count / 4, "\(tried) kinds announce anything")
    }

    @Test func `a large run announces at most 1.2 times what it takes, and a constant`() throws {
        // The blocks of the records, the pages of the catalogue, and the index of the log.
        let constant = 350_000
        var (tried, ratios): (Int, [String]) = (0, [])
        for kind in try Self.kinds.get() where kind.testDescription.hasPrefix("large") {
            guard let volume = try SmallVolume(kilobytes: 64_000) else { return }
            let store = try prepare(kind, on: volume)
            let error = try #require(try refusal(kind, store, on: volume), "\(kind.testDescription)")
            let needed = try #require(Self.needed(error), "\(kind.testDescription): \(error)")
            // In tests, SQLite's temporary files are in a folder elsewhere, and would seem to take nothing.
            guard !error.message.contains("sorting"), !error.message.contains("a statement changes") else { continue }
            tried += 1
            var (least, enough) = (0, (needed - constant) * 10 / 12)
            // Deferred work takes only what is constant.
            guard enough > 0 else { continue }
            // Too little for one that takes as much as it announces.
            guard try fits(kind, in: enough) else { continue }
            while enough - least > needed / 50 {
                let room = (least + enough) / 2
                if try fits(kind, in: room) { enough = room } else { least = room }
            }
            ratios.append("\(kind.testDescription): \(Double(needed * 100 / enough) / 100) times \(enough) bytes")
        }
        #expect(tried > 3 && ratios.isEmpty, "\(tried) tried; \(ratios.joined(separator: ", "))")
    }

    @Test func `a volume that runs full in the run is named with what was needed and what is free`() throws {
        guard let volume = try SmallVolume(kilobytes: 64_000) else { return }
        let kind = try #require(try Self.kinds.get().first { $0.testDescription == "large, WAL" })
        let store = try prepare(kind, on: volume)
        let refusal = try #require(try refusal(kind, store, on: volume))
        let needed = try #require(AnnouncedRoom.bytes(after: "needs", in: refusal.message))
        let boasting = Machine(temporaryFolder: volume.path + "/temporary", available: .max)
        // Of the room for the log, a run takes only what the rows need whose values change.
        for part in [1, 2, 3] {
            let error = #expect(throws: MigrationError.self) {
                try volume.withRoom(needed * part / 10) { try kind.run(store, boasting) }
            }
            #expect(error?.code == .insufficientStorage)
            #expect(error?.message.contains("are free now") == true, "\(String(describing: error))")
            let words = error?.message ?? ""
            #expect(AnnouncedRoom.bytes(after: "was", in: words) == needed && words.contains(volume.path), "\(words)")
        }
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `a volume without room for another file is called full`() throws {
        guard let volume = try SmallVolume(kilobytes: 8_000) else { return }
        let kind = try #require(try Self.kinds.get().first)
        let store = try prepare(kind, on: volume)
        for files in 6...24 {
            try volume.remount("nr_inodes=\(files)")
            do {
                try kind.run(store, Machine(temporaryFolder: volume.path + "/temporary"))
                return
            } catch let error as MigrationError {
                #expect(error.code == .insufficientStorage, "\(files): \(error)")
            } catch is SmallVolume.Refused {
                continue
            }
        }
    }
}
