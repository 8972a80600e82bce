import MoultBasics
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// The space that a run needs: what is taken at once, and what would help.
struct SpaceRequirementTests {
    private static let page: Int64 = 4_096
    private static let store: Int64 = 7_000 * page

    private func needs(_ change: (inout SpaceRequirement.Work) -> Void = { _ in }) -> SpaceRequirement {
        var work = SpaceRequirement.Work(pages: 7_000, pageSize: Self.page, fileSize: Self.store)
        change(&work)
        return SpaceRequirement(
            work, beside: StoreRecords(store: "/store/a.sqlite"), backups: "/store/backups", temporary: "/tmp")
    }

    /// Log and records: the headers of the frames, the index of the log, blocks for the records.
    private static let small: Int64 = 700_000

    @Test func `a run on a copy takes a backup, the copy and the log at once`() {
        let total = needs().total
        #expect(total >= 3 * Self.store && total <= 3 * Self.store + Self.small, "\(total)")
        // A file of external data is copied into the backup alone, and stays one in the store.
        let external = needs { ($0.externalFiles, $0.externalBytes) = (100, 25_000_000) }.total
        #expect(external - total >= 25_000_000 && external - total < 26_000_000)
    }

    @Test func `a frugal run frees the copy that it reads before the log is written`() {
        let total = needs { $0.isFrugal = true }.total
        // The copy to read from, the copy that is changed, and the sorting of its indexes; then the copy and the log.
        #expect(total >= 2 * Self.store && total <= 5 * Self.store / 2 + Self.small, "\(total)")
        let paced = needs { ($0.isFrugal, $0.isPaced) = (true, true) }.total
        #expect(paced >= 3 * Self.store)
    }

    @Test func `a run on the store itself has no working copy, and sorts while the log grows`() {
        let total = needs { $0.staysInStore = true }.total
        #expect(total >= 5 * Self.store / 2 && total <= 5 * Self.store / 2 + Self.small, "\(total)")
        #expect(!needs { $0.staysInStore = true }.peak.contains { $0.reason == "working copy" })
    }

    @Test func `what is taken before the commit and at the commit is not added up`() {
        let further = needs { $0.hasFurtherPasses = true }
        // The backup and two copies, with indexes to sort; or the backup, one copy and the log.
        #expect(further.total >= 7 * Self.store / 2 && further.total <= 7 * Self.store / 2 + Self.small)
        #expect(!further.peak.contains { $0.reason == "commit log" })
        #expect(further.peak.reduce(0) { $0 + $1.bytes } == further.total)
        let compacted = needs { $0.isCompacted = true }
        #expect(compacted.total > 3 * Self.store && compacted.total <= 7 * Self.store / 2 + Self.small)
    }

    @Test func `giving pages back takes what is left of the store, not the whole file`() {
        let work = needs { ($0.isCompacted, $0.freePages, $0.sorted) = (true, 6_000, 0) }
        // The backup and the copy, and what is left of it; then the backup, and what is left twice.
        let left = Self.store / 7
        #expect(
            work.total >= 2 * Self.store + left && work.total <= 2 * Self.store + left + Self.small, "\(work.total)")
        #expect(work.peak.contains { $0.reason == "compaction" && $0.bytes == left })
        // A rollback journal holds every old page.
        let inJournal = needs { ($0.isCompacted, $0.freePages, $0.sorted, $0.usesWAL) = (true, 7_000, 0, false) }
        #expect(inJournal.total >= 2 * Self.store && inJournal.total <= 2 * Self.store + Self.small)
    }

    @Test func `what a script sorts and changes is no more than it says`() {
        let sorting = needs { ($0.isFrugal, $0.sorted) = (true, 1_000_000) }.total
        #expect(sorting >= 2 * Self.store && sorting <= 2 * Self.store + 1_000_000 + Self.small, "\(sorting)")
        let small = needs { ($0.staysInStore, $0.sorted, $0.changed) = (true, 0, 100) }.total
        #expect(small >= Self.store + 100 * Self.page && small <= Self.store + 100 * Self.page + Self.small, "\(small)")
        // No more than all pages change.
        let whole = needs { ($0.staysInStore, $0.sorted, $0.changed) = (true, 0, 1_000_000) }.total
        #expect(whole == needs { ($0.staysInStore, $0.sorted) = (true, 0) }.total)
    }

    @Test func `a folder for temporary files that is short is named, with what helps there`() throws {
        guard let volume = try SmallVolume(kilobytes: 8_000) else { return }
        let folder = try ScratchFolder()
        let work = SpaceRequirement.Work(pages: 5_000, pageSize: Self.page, fileSize: 5_000 * Self.page)
        let space = SpaceRequirement(
            work, beside: StoreRecords(store: folder.path + "/a.sqlite"), backups: folder.path + "/b",
            temporary: volume.path)
        let error = #expect(throws: MigrationError.self) { try space.check(offering: [.frugal, .into], POSIXSystem()) }
        let words =
            "needs 11 MB of free space in the folder for temporary files, \(volume.path) (sorting of indexes 11 MB)"
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.place == volume.path)
        let remedy = error?.remedy ?? ""
        #expect(
            remedy.hasPrefix("Free ")
                && remedy.hasSuffix(" TMPDIR to a folder on another volume (11 MB of temporary files)."), "\(remedy)")
        for word in ["keepsBackup", "backupFolder", "into"] { #expect(!remedy.contains(word), "\(remedy)") }
    }

    /// One volume with so much room, and a folder on another one.
    private struct Tight: ForwardingSystem {
        let available: Int64
        let other: String

        func space(at path: String) throws -> VolumeSpace {
            path.hasPrefix(other)
                ? VolumeSpace(available: 1 << 40, volume: 2) : VolumeSpace(available: available, volume: 1)
        }
    }

    @Test func `each way that a refusal names fits in the room that it says, and no other is named`() throws {
        let folder = try ScratchFolder()
        let (store, versions) = (folder.path + "/a.sqlite", try DeferrableVersions.make())
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: 2_000, isHostile: false).fill(writer)
        try writer.finish()
        let other = try POSIXSystem().resolve(folder.path) + "/other"
        try POSIXSystem().makeFolder(other)
        func pass(_ system: any System, defersWork: Bool = false) throws -> Pass {
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.defersWork = defersWork
            let prepared = try PreparedMigration(store, versions: versions, options: options, system: system)
            return try #require(try prepared.migration())
        }
        /// The room on the store's volume.
        func needed(_ options: MigrationOptions = MigrationOptions(), defersWork: Bool = false) throws -> Int64 {
            let system = Tight(available: 0, other: other)
            let pass = try pass(system, defersWork: defersWork)
            let space = try Migrator(options: options, system: system).needs(of: pass, on: store).space
            return try #require(try space.volumes(system).first { $0.available == 0 }).needed
        }
        let ways: [(word: String, needed: Int64)] = [
            ("RunOptions.keepsBackup = false", try needed(MigrationOptions(isFrugal: true))),
            ("RunOptions.defersWork", try needed(defersWork: true)),
            ("RunOptions.backupFolder", try needed(MigrationOptions(backupFolder: other))),
        ]
        let all = try needed()
        #expect(ways[1].needed < ways[2].needed && ways[2].needed < all)
        // The room that is said for deferred work has the pages of new tables too.
        let rooms = [ways[0].needed - 1, ways[0].needed, ways[2].needed - 1, ways[2].needed, all - 1]
        for available in rooms where available < all {
            let system = Tight(available: available, other: other)
            let pass = try pass(system)
            let error = #expect(throws: MigrationError.self) { try Migrator(system: system).run(pass, on: store) }
            #expect(error?.neededSpace == all && error?.freeSpace == available)
            let remedy = error?.remedy ?? ""
            for way in ways {
                #expect(remedy.contains(way.word) == (way.needed <= available), "\(available): \(way), \(remedy)")
            }
            #expect(remedy.contains("write the new store on another volume: "), "\(remedy)")
        }
    }

    @Test func `numbers beyond all measure do not trap`() {
        let huge = needs { ($0.pages, $0.growth, $0.keptCopies) = (.max / 8_192, .max / 4, 9) }
        #expect(huge.total > 0)
    }

    @Test func `the refusal names what fits, and the sentence what is free`() throws {
        guard let volume = try SmallVolume(kilobytes: 8_000) else { return }
        func check(_ bytes: Int64, backups: String, ways: [SpaceRequirement.Way]) -> MigrationError? {
            var work = SpaceRequirement.Work(pages: bytes / Self.page, pageSize: Self.page, fileSize: bytes)
            work.externalBytes = 0
            let space = SpaceRequirement(
                work, beside: StoreRecords(store: volume.path + "/a.sqlite"), backups: backups, temporary: "/tmp")
            do {
                try space.check(offering: ways, POSIXSystem())
                return nil
            } catch { return error as? MigrationError }
        }
        // Two of three fit: the log of a run without a backup, or the copy without the backup's volume.
        let inside = check(2_800_000, backups: volume.path + "/b", ways: [.frugal, .into])
        #expect(inside?.code == .insufficientStorage)
        #expect(inside?.remedy.contains("RunOptions.backupFolder") == true, "\(String(describing: inside))")
        #expect(inside?.remedy.contains("keepsBackup = false") == true, "\(String(describing: inside))")
        // Nothing fits beside the store.
        let large = check(40_000_000, backups: volume.path + "/b", ways: [.frugal, .into])
        #expect(large?.remedy.contains("keepsBackup") == false && large?.remedy.contains("backupFolder") == false)
        #expect(large?.message.contains("MB") == true && large?.message.contains("bytes") == false)
        let sentence = SpaceRequirement.sentence(
            try SpaceRequirement(parts: [.init(reason: "x", folder: volume.path, bytes: 1_000_000)])
                .volumes(POSIXSystem()))
        #expect(sentence?.hasPrefix("The migration needs 1.0 MB of free space (") == true, "\(sentence ?? "")")
        #expect(sentence?.hasSuffix(" MB are free).") == true && sentence?.contains("only") == false)
    }
}
