import MoultBasics

/// The space that a run needs, each number with its reason.
///
/// The numbers are upper bounds, from counts of pages and files: a run with exactly that much free space does not fill
/// the volume. Growth from app code is not known before the run.
package struct SpaceRequirement: Sendable, Equatable {
    package struct Part: Sendable, Equatable {
        /// The reason, such as "backup".
        package var reason: String
        /// The folder whose volume must have the space.
        package var folder: String
        package var bytes: Int64
        /// The time during which the space is taken.
        var time = Time.whole
        /// Whether the folder is the one for temporary files, which the environment variable `TMPDIR` names.
        var isTemporary = false
        /// Whether the part is on another volume, which a person has yet to name.
        var isElsewhere = false

        /// The time during which a part is taken. What is taken only before the commit is free again when the commit
        /// begins.
        enum Time: Sendable, Equatable { case whole, beforeCommit, commit }

        package init(reason: String, folder: String, bytes: Int64) {
            (self.reason, self.folder, self.bytes) = (reason, folder, bytes)
        }

        func taken(_ time: Time) -> Part {
            var part = self
            part.time = time
            return part
        }

        /// Returns the part in the folder for temporary files.
        static func temporary(_ reason: String, in folder: String, bytes: Int64) -> Part {
            var part = Part(reason: reason, folder: folder, bytes: bytes)
            part.isTemporary = true
            return part
        }

        /// Returns the part for journal, history, log and manifest, each in whole blocks and some in two versions at
        /// once, and their folders.
        static func records(in folder: String) -> Part {
            Part(reason: "records of the run", folder: folder, bytes: 32 * SpaceRequirement.block)
        }
    }

    package var parts: [Part]
    /// The space that the same work needs in other ways; none if this is unknown.
    var others: [Way: [Part]] = [:]

    package init(parts: [Part]) { self.parts = parts }

    /// A command-line option that reduces the space a run needs, if its command has it.
    package enum Way: Sendable, CaseIterable {
        /// `--frugal`
        case frugal
        /// `--deferred`
        case deferred
        /// `--into`
        case into
    }

    /// The space needed on one volume.
    package struct Volume: Sendable, Equatable {
        /// A folder on the volume.
        package let folder: String
        package let needed: Int64
        package let available: Int64
        /// The parts at the moment when the most space is taken, and the parts of the whole run.
        fileprivate let parts: [Part]
        fileprivate let all: [Part]

        fileprivate var isEnough: Bool { needed <= available }
    }

    /// The properties of a run that determine its space.
    package struct Work: Sendable, Equatable {
        /// The number of pages of the store, including those in a WAL.
        package var pages: Int64
        package var pageSize: Int64
        /// The size of the store's own file in bytes.
        package var fileSize: Int64
        /// The most bytes by which the new store can exceed the old one.
        package var growth: Int64 = 0
        /// The most bytes that are sorted at once; nil if only the size of the store bounds them.
        package var sorted: Int64?
        /// The most pages that change in the store itself; nil if all may.
        package var changed: Int64?
        /// The most bytes of old pages that SQLite keeps in a temporary file until a statement on the store itself ends.
        package var kept: Int64 = 0
        /// The most pages that change when only the catalogue does.
        package var catalogue: Int64 = 0
        /// The number of pages that are free.
        package var freePages: Int64 = 0
        package var usesWAL = true
        /// Whether a change of the store itself begins with a backup.
        package var needsBackup = true
        /// The number of external data files, and their bytes.
        package var externalFiles: Int64 = 0
        package var externalBytes: Int64 = 0
        /// Whether no copy is kept, and the one that the script reads is removed before the commit.
        package var isFrugal = false
        package var isInPlace = false
        /// Whether the store itself is changed, next to its backup, in one transaction.
        package var staysInStore = false
        /// The number of working copies kept until the end, because steps may have to be undone on them.
        package var keptCopies = 0
        /// Whether a later pass runs on a copy of the previous pass's result.
        package var hasFurtherPasses = false
        /// Whether the run has a budget, and may end before any unit.
        package var isPaced = false
        /// Whether the free pages of the working copy are given back.
        package var isCompacted = false
        /// Whether the working copy has a rollback journal, for code that may roll back.
        package var isJournalled = false

        /// The space for a copy of the external data: whole blocks for each file, and its line in a manifest.
        var externalSpace: Int64 {
            externalBytes &+ externalFiles &* (SpaceRequirement.block + SpaceRequirement.line)
        }
    }

    /// - Parameters:
    ///   - backups: the folder of the backups.
    ///   - temporary: the folder for sorts that exceed memory.
    package init(_ work: Work, beside sidecar: StoreRecords, backups: String, temporary: String) {
        let folder = Path.folder(of: sidecar.store)
        let (old, new) = (work.pages &* work.pageSize, work.pages &* work.pageSize &+ work.growth)
        // The size of the new store after its free pages are given back.
        let left = work.isCompacted ? new &- min(work.freePages, work.pages) &* work.pageSize : new
        let hasCopy = !work.isInPlace && !work.staysInStore
        parts = !work.isFrugal && work.needsBackup ? Self.backup(work, in: backups) : []
        if hasCopy {
            if work.isFrugal {
                parts.append(
                    Part(reason: "copy to read from", folder: backups, bytes: old)
                        .taken(work.isPaced ? .whole : .beforeCommit))
            }
            let copy = Part(reason: "working copy", folder: folder, bytes: new)
            parts += work.isCompacted ? [copy.taken(.beforeCommit)] : [copy]
            if work.hasFurtherPasses {
                // It is removed once the next pass is verified.
                parts.append(
                    Part(reason: "result of the pass before", folder: folder, bytes: new).taken(.beforeCommit))
            }
            if work.isJournalled {
                let bytes = old &+ work.pages &* Self.journalHeader
                parts.append(Part(reason: "journal of the copy", folder: folder, bytes: bytes).taken(.beforeCommit))
            }
            if work.isCompacted {
                // SQLite writes the rows into a temporary file, and then back.
                parts.append(.temporary("compaction", in: temporary, bytes: left).taken(.beforeCommit))
                parts.append(Part(reason: "compacted copy", folder: folder, bytes: left).taken(.commit))
            }
        }
        // The entries of an index are in its table too: together they are no larger than the store. On the store
        // itself, they are sorted while the log grows.
        let sorted = min(work.sorted ?? .max, new / 2)
        if !work.isInPlace, sorted > 0 {
            let sorting = Part.temporary("sorting of indexes", in: temporary, bytes: sorted)
            parts.append(hasCopy ? sorting.taken(.beforeCommit) : sorting)
        }
        if work.staysInStore, work.kept > 0 {
            parts.append(.temporary("pages that a statement changes", in: temporary, bytes: min(work.kept, new)))
        }
        if work.keptCopies > 0 {
            let kept = new.multipliedReportingOverflow(by: Int64(work.keptCopies))
            let bytes = kept.overflow ? Int64.max : kept.partialValue
            parts.append(Part(reason: "copies for undoing steps", folder: folder, bytes: bytes))
        }
        // A WAL holds the new pages, which then enlarge the store's own file. A rollback journal holds the old pages.
        let pages = (work.usesWAL ? left : max(old, left)) / max(work.pageSize, 1) &+ 1
        let added = work.usesWAL ? 0 : work.growth / max(work.pageSize, 1)
        let changed = hasCopy ? pages : min(max(0, (work.changed ?? .max) - added), pages)
        let log = Self.commitLog(pages: changed, pageSize: work.pageSize)
        let commit = Part(reason: "commit log", folder: folder, bytes: max(0, log &+ max(0, left &- work.fileSize)))
        parts.append(hasCopy ? commit.taken(.commit) : commit)
        parts.append(.records(in: folder))
        guard !work.isFrugal else { return }
        var frugal = work
        (frugal.isFrugal, frugal.staysInStore) = (true, false)
        others[.frugal] = SpaceRequirement(frugal, beside: sidecar, backups: backups, temporary: temporary).parts
    }

    /// Returns the parts of a backup of a store with its external data.
    static func backup(_ work: Work, in folder: String) -> [Part] {
        let pages = Part(reason: "backup", folder: folder, bytes: work.pages &* work.pageSize)
        guard work.externalFiles > 0 else { return [pages] }
        return [pages, Part(reason: "backup of external data", folder: folder, bytes: work.externalSpace)]
    }

    /// Returns the space for a commit. Every new page passes through the WAL, or every old one through the rollback
    /// journal; the WAL's headers and index make it the larger (the SQLite file format, section 4; Write-Ahead Logging,
    /// section 4).
    static func commitLog(pages: Int64, pageSize: Int64) -> Int64 {
        let index = (pages / 4_062 + 1) &* 32_768
        // The last frame may fill a sector, and the first page is written again when the transaction ends.
        return 32 &+ (pages &+ 4) &* (pageSize &+ 24) &+ index
    }

    private static let block: Int64 = 4_096
    /// The most bytes in the manifest for one file.
    private static let line: Int64 = 512
    private static let journalHeader: Int64 = 8

    /// The most space that is taken at once.
    package var total: Int64 { Self.sum(peak) }

    /// The parts that are taken at the moment when the most space is.
    package var peak: [Part] {
        func at(_ time: Part.Time) -> [Part] { parts.filter { $0.time == .whole || $0.time == time } }
        let (before, after) = (at(.beforeCommit), at(.commit))
        return Self.sum(before) > Self.sum(after) ? before : after
    }

    private static func sum(_ parts: [Part]) -> Int64 {
        parts.reduce(0) { sum, part in
            let (more, isTooMuch) = sum.addingReportingOverflow(part.bytes)
            return isTooMuch ? .max : more
        }
    }

    /// - Parameters:
    ///   - work: the work that needs the space.
    ///   - ways: the other options of its command.
    /// - Throws: `insufficientStorage` with the needed space, the free space, and every option with which the work
    ///   fits, for the first volume that is too small.
    package func check(
        for work: String = "The migration", offering ways: @autoclosure () -> [Way] = [], _ system: any System
    ) throws {
        guard let short = try volumes(system).first(where: { !$0.isEnough }) else { return }
        let place =
            short.all.allSatisfy(\.isTemporary) ? " in the folder for temporary files, \(short.folder)" : ""
        var error = MigrationError(
            .insufficientStorage,
            "\(work) needs \(Quantity.bytesNeeded(short.needed)) of free space\(place) (\(Self.list(short.parts))), and "
                + "\(Quantity.bytesFree(short.available)) are free.", place: short.folder,
            remedy: helpful(ways(), system).reduce(
                "Free \(Quantity.bytesNeeded(short.needed - short.available)) more"
            ) { "\($0), or \($1)" } + ".")
        (error.neededSpace, error.freeSpace) = (short.needed, short.available)
        throw error
    }

    /// Returns the options with which all volumes are large enough, each with the space that it needs.
    private func helpful(_ ways: [Way], _ system: any System) -> [Remedy] {
        var words: [Remedy] = []
        /// Returns the space of a folder's volume in another way; nil if a volume is too small.
        func needed(_ parts: [Part], in folder: String) -> String? {
            guard let volumes = try? SpaceRequirement(parts: parts).volumes(system), volumes.allSatisfy(\.isEnough)
            else { return nil }
            let bytes = volumes.first { $0.all.contains { $0.folder == folder } }?.needed ?? 0
            return Quantity.bytesNeeded(bytes)
        }
        /// Returns the space of some parts, if all volumes are large enough for the others.
        func moved(_ isMoved: (Part) -> Bool) -> String? {
            let gone = parts.filter(isMoved)
            guard Self.sum(gone) > 0, needed(parts.filter { !isMoved($0) }, in: "") != nil else { return nil }
            return Quantity.bytesNeeded(SpaceRequirement(parts: gone).total)
        }
        let store = parts.last?.folder ?? ""
        if ways.contains(.frugal), let parts = others[.frugal], let bytes = needed(parts, in: store) {
            words.append("use \(option: .frugal), which keeps no backup and needs \(bytes)")
        }
        if ways.contains(.deferred), let parts = others[.deferred], let bytes = needed(parts, in: store) {
            words.append("use \(option: .deferred), which needs \(bytes) now and leaves slow work to \(.finish)")
        }
        if let bytes = moved({ $0.reason.hasPrefix("backup") }) {
            words.append("keep the backup on another volume: \(option: .backups("FOLDER")) (\(bytes))")
        }
        if let bytes = moved(\.isTemporary) {
            words.append("set TMPDIR to a folder on another volume (\(bytes) of temporary files)")
        }
        if ways.contains(.into), let parts = others[.into] {
            let there = SpaceRequirement(parts: parts.filter(\.isElsewhere)).total
            if needed(parts.filter { !$0.isElsewhere }, in: "") != nil {
                words.append(
                    "write the new store on another volume: \(option: .into("FILE")) (\(Quantity.bytesNeeded(there)))")
            }
        }
        return words
    }

    /// Whether the same run fits if it keeps no backup.
    package func isEnoughWithoutBackup(_ system: any System) -> Bool {
        guard let frugal = others[.frugal], let volumes = try? SpaceRequirement(parts: frugal).volumes(system) else {
            return false
        }
        return volumes.allSatisfy(\.isEnough)
    }

    /// Returns the error of a volume that filled up anyway, with the numbers known before and the present free space.
    package func withNumbers(_ error: MigrationError, _ system: any System) -> MigrationError {
        guard error.code == .insufficientStorage, !parts.isEmpty, let volumes = try? volumes(system) else {
            return error
        }
        var error = error
        let numbers = volumes.map { volume in
            "On the volume of \(volume.folder) \(Quantity.bytesFree(volume.available)) are free now; the estimate for the "
                + "whole run was \(Quantity.bytesNeeded(volume.needed)) (\(Self.list(volume.parts)))."
        }
        error.message += " " + numbers.joined(separator: " ")
        let short = volumes.first { !$0.isEnough } ?? volumes.first
        (error.neededSpace, error.freeSpace) = (short?.needed, short?.available)
        return error
    }

    /// Returns the space needed on each volume. A folder that does not exist yet is on its parent's volume.
    package func volumes(_ system: any System) throws -> [Volume] {
        var known: [(space: VolumeSpace, parts: [Part])] = []
        for part in parts {
            var folder = part.folder
            while try !system.exists(folder), Path.folder(of: folder) != folder { folder = Path.folder(of: folder) }
            let space = try system.space(at: folder)
            if let place = known.firstIndex(where: { $0.space.volume == space.volume }) {
                known[place].parts.append(part)
            } else {
                known.append((space, [part]))
            }
        }
        return known.map { space, parts in
            let peak = SpaceRequirement(parts: parts).peak
            return Volume(
                folder: parts.first?.folder ?? "", needed: Self.sum(peak), available: space.available, parts: peak,
                all: parts)
        }
    }

    /// Returns a sentence about the needed space and the free space; nil if none is needed.
    package static func sentence(_ volumes: [Volume], of work: String = "The migration") -> String? {
        let needs = volumes.filter { $0.needed > 0 }
        guard !needs.isEmpty else { return nil }
        let words = needs.map { volume in
            let place = needs.count > 1 ? " on the volume of \(volume.folder)" : ""
            let free = " (\(volume.isEnough ? "" : "only ")\(Quantity.bytesFree(volume.available)) are free)"
            return "\(Quantity.bytesNeeded(volume.needed)) of free space\(place)\(free)"
        }
        return "\(work) needs \(words.joined(separator: " and "))."
    }

    private static func list(_ parts: [Part]) -> String {
        parts.map { "\($0.reason) \(Quantity.bytesNeeded($0.bytes))" }.joined(separator: " + ")
    }
}
