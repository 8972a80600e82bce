import Foundation
import MoultBasics
import MoultModel
import Synchronization
import TestSupport

@testable import MoultEngine

/// One kind of work, cancelled at one instant after the other, each time on a copy of the same folder.
///
/// What must be true afterwards is said by the sqlite3 shell and by the list of files: the old store, or the new one
/// where the instant came after the commit; nothing beside it but what any run leaves; and a run that is not disturbed
/// then ends as one that never was.
final class CancellationTrial {
    /// When somebody changes his mind.
    enum Instant {
        case seconds(Double)
        /// After so many reports of progress.
        case reports(Int)
        /// When the work asks for the so-manieth time.
        case asks(Int)
    }

    struct Broken: Error, CustomStringConvertible { let description: String }

    let kind: CancellableKind
    private let ground: ScratchFolder
    private let states: Set<[String]>
    private let new: [String]
    private let newFiles: [String]
    private let groundFiles: Set<String>
    private let (reports, asks): (Int, Int)
    private let seconds: Double

    init(_ kind: CancellableKind) throws {
        self.kind = kind
        ground = try ScratchFolder()
        try kind.prepare(ground.path + "/Forum.sqlite")
        groundFiles = Set(try Self.files(in: ground.path))
        var states = [try Self.contents(of: ground.path)]
        for stop in kind.stops {
            let folder = try Self.copy(ground)
            try stop(folder.path + "/Forum.sqlite", POSIXSystem(), .none)
            states.append(try Self.contents(of: folder.path))
        }
        let folder = try Self.copy(ground)
        let watch = Watch(nil)
        let begun = ContinuousClock.now
        try kind.run(folder.path + "/Forum.sqlite", HurriedSystem(), watch.observer)
        seconds = begun.duration(to: .now) / .seconds(1)
        (reports, asks) = (watch.reports.value, watch.asks.value)
        new = try Self.contents(of: folder.path)
        newFiles = try Self.files(in: folder.path)
        self.states = Set(states)
        guard kind.leavesStore == (new == states[0]) else { throw Broken(description: "\(kind.name) changes nothing") }
    }

    func instant(_ number: Int, using random: inout SeededGenerator) -> Instant {
        switch number % 3 {
        case 0: .asks(Int.random(in: 1...max(asks, 1), using: &random))
        case 1: .reports(Int.random(in: 0...reports, using: &random))
        default: .seconds(Double.random(in: 0...seconds, using: &random))
        }
    }

    /// - Returns: whether the work was cancelled; false where it was done by then.
    func run(at instant: Instant) throws -> Bool {
        let folder = try Self.copy(ground)
        let store = folder.path + "/Forum.sqlite"
        do {
            try kind.run(store, HurriedSystem(), Watch(instant).observer)
            try expect(folder, "done in spite of being cancelled at \(instant)")
            return false
        } catch let error as MigrationError where error.code == .cancelled {
            try check(folder, after: instant)
        }
        try kind.run(store, POSIXSystem(), .none)
        try expect(folder, "run again after being cancelled at \(instant)")
        return true
    }

    // MARK: - What must be true

    private func check(_ folder: ScratchFolder, after instant: Instant) throws {
        let found = try Self.contents(of: folder.path)
        guard states.contains(found) else {
            let lines = states.map { Self.difference(found, $0) }.min { $0.count < $1.count } ?? ""
            throw Broken(description: "\(kind.name) at \(instant): the store is not as it was\n\(lines)")
        }
        let strange = try Self.files(in: folder.path).filter { !groundFiles.contains($0) && !isOfAnyRun($0) }
        guard strange.isEmpty else {
            throw Broken(description: "\(kind.name) at \(instant): left \(strange.joined(separator: ", "))")
        }
    }

    /// The lock, the history and the log; the backups of what stays done.
    private func isOfAnyRun(_ name: String) -> Bool {
        let sidecar = "Forum.sqlite.moult"
        if ["", "/lock", "/runs.jsonl", "/log.txt", "/backups"].contains(where: { name == sidecar + $0 }) {
            return true
        }
        return !kind.stops.isEmpty && name.hasPrefix("\(sidecar)/backups/backup")
    }

    private func expect(_ folder: ScratchFolder, _ what: String) throws {
        let found = try Self.contents(of: folder.path)
        guard found == new else {
            throw Broken(description: "\(kind.name), \(what): not the new store\n\(Self.difference(found, new))")
        }
        let files = try Self.files(in: folder.path)
        guard files == newFiles else {
            let differing = Set(files).symmetricDifference(newFiles).sorted()
            throw Broken(description: "\(kind.name), \(what): other files: \(differing), \(files.count)")
        }
    }

    private static func difference(_ found: [String], _ expected: [String]) -> String {
        Set(found).symmetricDifference(expected).sorted().prefix(4).map { String($0.prefix(800)) }
            .joined(separator: "\n")
    }

    // MARK: - Looking

    /// Counts, and says when it is enough.
    private final class Watch: Sendable {
        let reports = Counter()
        let asks = Counter()
        private let instant: Instant?
        private let begun = ContinuousClock.now

        init(_ instant: Instant?) { self.instant = instant }

        var observer: MigrationObserver {
            MigrationObserver(onProgress: { _ in self.reports.count() }, isCancelled: { self.isCancelled() })
        }

        private func isCancelled() -> Bool {
            asks.count()
            return switch instant {
            case nil: false
            case .seconds(let seconds)?: begun.duration(to: .now) >= .seconds(seconds)
            case .reports(let count)?: reports.value >= count
            case .asks(let count)?: asks.value >= count
            }
        }
    }

    private static func copy(_ folder: ScratchFolder) throws -> ScratchFolder {
        let copy = try ScratchFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        return copy
    }

    /// All that the shell prints of a copy of the store, without the random names of external files; the bytes of one
    /// that is no database.
    private static func contents(of folder: String) throws -> [String] {
        let copy = try ScratchFolder()
        for suffix in ["", "-wal", "-journal"]
        where FileManager.default.fileExists(atPath: "\(folder)/Forum.sqlite\(suffix)") {
            try FileManager.default.copyItem(
                atPath: "\(folder)/Forum.sqlite\(suffix)", toPath: "\(copy.path)/Forum.sqlite\(suffix)")
        }
        let bytes = try POSIXSystem().read(copy.path + "/Forum.sqlite")
        guard bytes.starts(with: "SQLite format 3".utf8) else { return [Digest.sha256(bytes).hexadecimal] }
        let text = try SharedSQLiteShell.run(copy.path + "/Forum.sqlite", "PRAGMA integrity_check;\n.dump")
        guard text.hasPrefix("ok\n") else { throw Broken(description: "the store is damaged: \(text.prefix(200))") }
        return text.replacing(/X'02[0-9a-fA-F]{72}00'/, with: "X'02'").split(separator: "\n").map(String.init).sorted()
    }

    /// Every file and folder below, but for the shared memory of a log; of those with random names how many there are.
    private static func files(in folder: String) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return all.filter { !$0.hasSuffix("-shm") }.map { name in
            name.replacing(/(backups|damaged)\/[^.\/][^\/]*/) { "\($0.1)/\($0.1.dropLast())" }
                .replacing(/_EXTERNAL_DATA\/[0-9A-Fa-f-]{36}/, with: "_EXTERNAL_DATA/file")
        }.sorted()
    }
}
