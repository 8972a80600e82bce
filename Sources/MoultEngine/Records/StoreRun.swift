import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One run in a store's history.
public struct StoreRun: Sendable, Hashable, Identifiable {
    /// The result of a run.
    public enum Result: String, Sendable, Hashable, CaseIterable, Codable {
        /// It has done its work.
        case done
        /// It failed, and the store is unchanged.
        case failed
        /// It was stopped, and the store is unchanged.
        case cancelled
        /// It ended on its budget, for the next call to continue.
        case paused
        /// Its process died before the commit, and the store is unchanged.
        case undone
        /// Its process died after the commit, and the next run found the new store.
        case recovered
    }

    /// The operation of a run.
    public enum Operation: String, Sendable, Hashable, CaseIterable, Codable {
        /// A migration.
        case migrate
        /// A rollback to a backup.
        case rollback
        /// Work that a deferred migration left.
        case finish
        /// The fixes of rules.
        case validate
        /// A repair.
        case repair
        /// A restoration of objects from the quarantine.
        case quarantine
        /// A downgrade to an older version.
        case downgrade
        /// A move to another path.
        case move
    }

    package var run: String
    /// The operation of the run.
    public package(set) var operation: Operation
    /// The result of the run.
    public package(set) var result: Result
    /// The name of the version before.
    public package(set) var from: String
    /// The name of the target version.
    public package(set) var to: String
    /// When it began and ended, in ISO 8601.
    package var startTime: String
    package var endTime: String
    package var seconds: Double
    /// The name of the backup that it made; nil if it made or kept none.
    public package(set) var backup: String?
    /// The folder where that backup is; nil in records of earlier versions of Moult.
    package var backups: String?
    /// The rows that it was estimated to touch.
    public package(set) var rows: Int64
    package var bytes: Int64
    /// The error's code and sentence; nil if it did not fail.
    public package(set) var error: String?
    /// The number of objects that it quarantined.
    public package(set) var quarantined: Int64 = 0
    /// The number of objects that the fixes of rules changed, deleted or made.
    package var fixed: Int64 = 0
    /// The counted losses of the run: data that is no longer in the store.
    public package(set) var losses: [MigrationLoss] = []
    /// The name of the backup that a rollback restored.
    package var restored: String?
    /// The names of the backups that it removed according to the retention policy.
    package var removed: [String] = []

    /// The name of the run, unique among the store's runs.
    public var id: String { run }
    /// When it began; nil for a record that does not say.
    public var startedAt: Date? { Timestamp(iso8601: startTime)?.date }
    /// The time that the run took.
    public var duration: Duration { .seconds(seconds) }
}

extension StoreRun {
    package var json: JSONValue {
        .object([
            .init("format", .integer(1)), .init("run", .string(run)), .init("operation", .string(operation.rawValue)),
            .init("result", .string(result.rawValue)), .init("from", .string(from)), .init("to", .string(to)),
            .init("startedAt", .string(startTime)), .init("endedAt", .string(endTime)),
            .init("seconds", .double(seconds)), .init("backup", backup.map(JSONValue.string) ?? .null),
            .init("backups", backups.map(JSONValue.string) ?? .null), .init("rows", .integer(rows)),
            .init("bytes", .integer(bytes)),
            .init("error", error.map(JSONValue.string) ?? .null), .init("quarantined", .integer(quarantined)),
            .init("fixed", .integer(fixed)), .init("losses", .array(losses.map(\.document))),
            .init("restored", JSONValue(restored)), .init("removedBackups", JSONValue(removed)),
        ])
    }

    init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let run = json["run"]?.string,
            let operation = json["operation"]?.string.flatMap(Operation.init),
            let result = json["result"]?.string.flatMap(Result.init)
        else { return nil }
        self.init(
            run: run, operation: operation, result: result, from: json["from"]?.string ?? "",
            to: json["to"]?.string ?? "", startTime: json["startedAt"]?.string ?? "",
            endTime: json["endedAt"]?.string ?? "", seconds: json["seconds"]?.double ?? 0,
            backup: json["backup"]?.string, backups: json["backups"]?.string, rows: json["rows"]?.integer ?? 0,
            bytes: json["bytes"]?.integer ?? 0,
            error: json["error"]?.string, quarantined: json["quarantined"]?.integer ?? 0,
            fixed: json["fixed"]?.integer ?? 0, losses: MigrationLoss.list(json["losses"]),
            restored: json["restored"]?.string, removed: json["removedBackups"]?.array?.compactMap(\.string) ?? [])
    }
}

/// All runs on a store, oldest first; each is written once and never changed.
package struct RunHistory: Sendable {
    package let sidecar: StoreRecords
    private let system: any System

    package init(_ sidecar: StoreRecords, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    package func append(_ record: StoreRun) throws {
        var record = record
        // A relative path would not resolve in another working folder.
        record.backups = record.backups.map { (try? system.resolve($0)) ?? $0 }
        let isFirst = try !system.exists(sidecar.runs)
        // This line must not be joined to one that a dying process left unfinished.
        let start = try isFirst || endsWithLine() ? "" : "\n"
        try system.append(Array((start + record.json.compact + "\n").utf8), to: sidecar.runs, sidecar.rights)
        try system.synchronise(sidecar.runs)
        // Otherwise a power cut could remove the file, and with it the history of a run whose journal is gone.
        if isFirst { try system.synchronise(sidecar.folder) }
    }

    /// Whether the last line is complete.
    private func endsWithLine() throws -> Bool {
        var last = UInt8(ascii: "\n")
        let size = try system.status(of: sidecar.runs)?.size ?? 0
        if size > 0 { try system.readPieces(of: sidecar.runs, from: size - 1) { last = $0.last ?? last } }
        return last == UInt8(ascii: "\n")
    }

    /// Returns the readable records; ``contents()`` also reports unreadable ones.
    package func records() throws -> [StoreRun] { try contents().records }

    /// Returns the readable records, and the unreadable lines: unfinished when a process died, damaged since, or
    /// written by a later version of Moult.
    package func contents() throws -> (records: [StoreRun], unreadable: Unreadable?) {
        guard try system.exists(sidecar.runs) else { return ([], nil) }
        let lines = try system.read(sidecar.runs).split(separator: UInt8(ascii: "\n")).map(record)
        let count = lines.count { $0 == nil }
        let isLast = lines.last.map { $0 == nil } ?? false
        return (lines.compactMap { $0 }, count == 0 ? nil : Unreadable(count: count, isLast: isLast))
    }

    private func record(_ line: ArraySlice<UInt8>) -> StoreRun? {
        (try? JSONValue(parsing: Array(line), place: sidecar.runs, code: .metadataInvalid)).flatMap(StoreRun.init)
    }

    /// Returns the last readable record that meets a condition. What precedes it is not read, because there may be
    /// thousands of records, and each run asks.
    package func last(where isWanted: (StoreRun) throws -> Bool = { _ in true }) throws -> StoreRun? {
        let size = try system.status(of: sidecar.runs)?.size ?? 0
        // The end of a line whose start has not been read.
        var (end, rest): (Int64, [UInt8]) = (size, [])
        while end > 0 {
            let start = max(0, end - Self.pieceSize)
            var piece =
                try start == 0 && end == size
                ? system.read(sidecar.runs) : system.bytes(of: sidecar.runs, from: start, count: end - start)
            piece += rest
            var lines = piece.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = start > 0 ? Array(lines.removeFirst()) : []
            for line in lines.reversed() {
                if let record = record(line), try isWanted(record) { return record }
            }
            end = start
        }
        return nil
    }

    private static let pieceSize: Int64 = 1 << 16

    /// Lines of a history that cannot be read.
    package struct Unreadable: Sendable, Equatable {
        package let count: Int
        /// Whether the last line is one of them, so that the last run is unknown.
        package let isLast: Bool

        package var sentence: String {
            "\(Quantity.count(count, "record")) of the history of runs cannot be read"
                + (isLast ? ", the last one among them: it is not known what was done last." : ".")
        }
    }
}
