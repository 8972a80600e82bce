import MoultModel
import MoultSystem

/// One run as `runs.jsonl` keeps it.
package struct RunRecord: Sendable, Equatable {
    package enum Result: String, Sendable {
        case done, failed, cancelled
        /// It ended on its budget, for the next call to continue.
        case paused
        /// It died before its commit, and the store stayed the old one.
        case undone
        /// It died after its commit, and the next run found the new store.
        case recovered
    }

    package var run: String
    package var operation: Journal.Operation
    package var result: Result
    package var from: String
    package var to: String
    package var startedAt: String
    package var endedAt: String
    package var seconds: Double
    /// The backup's folder name, if one was kept.
    package var backup: String?
    /// The folder where that backup is; nil in records of earlier versions of Moult.
    package var backups: String?
    package var rows: Int64
    package var bytes: Int64
    /// The error's code and sentence.
    package var error: String?
    /// Objects that it put into the quarantine.
    package var quarantined: Int64 = 0
    /// Objects that the fixes of rules changed, deleted or made.
    package var fixed: Int64 = 0
    /// The data that the store does not have since the run, counted.
    package var losses: [MigrationLoss] = []
    /// The name of the backup that a rollback put back.
    package var restored: String?
    /// The names of the backups that it removed, because the retention policy does not keep them.
    package var removed: [String] = []
}

/// All runs on a store, oldest first; written once each, never changed.
package struct RunHistory: Sendable {
    package let sidecar: Sidecar
    private let system: any System

    package init(_ sidecar: Sidecar, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    package func append(_ record: RunRecord) throws {
        var record = record
        // Read in another working folder.
        record.backups = record.backups.map { (try? system.resolve($0)) ?? $0 }
        let isFirst = try !system.exists(sidecar.runs)
        // A line that a dying process left unfinished would take this one with it.
        let start = try isFirst || endsWithLine() ? "" : "\n"
        try system.append(Array((start + record.json.compact + "\n").utf8), to: sidecar.runs, sidecar.rights)
        try system.synchronise(sidecar.runs)
        // Else a power cut could take the name, and with it the history of a run whose journal is gone.
        if isFirst { try system.synchronise(sidecar.folder) }
    }

    /// Whether the last line is whole.
    private func endsWithLine() throws -> Bool {
        var last = UInt8(ascii: "\n")
        let size = try system.status(of: sidecar.runs)?.size ?? 0
        if size > 0 { try system.readPieces(of: sidecar.runs, from: size - 1) { last = $0.last ?? last } }
        return last == UInt8(ascii: "\n")
    }

    /// The records that can be read; ``contents()`` says whether these are all.
    package func records() throws -> [RunRecord] { try contents().records }

    /// The records that can be read, and what cannot: lines that a dying process left unfinished, that were damaged
    /// since, or that a later version of Moult has written.
    package func contents() throws -> (records: [RunRecord], unreadable: Unreadable?) {
        guard try system.exists(sidecar.runs) else { return ([], nil) }
        let lines = try system.read(sidecar.runs).split(separator: UInt8(ascii: "\n")).map { line in
            (try? JSONValue(parsing: Array(line), place: sidecar.runs, code: .metadataInvalid)).flatMap(RunRecord.init)
        }
        let count = lines.count { $0 == nil }
        let isLast = lines.last.map { $0 == nil } ?? false
        return (lines.compactMap { $0 }, count == 0 ? nil : Unreadable(count: count, isLast: isLast))
    }

    /// Lines of a history that cannot be read.
    package struct Unreadable: Sendable, Equatable {
        package let count: Int
        /// Whether the last line is one of them, so that it is not known what was done last.
        package let isLast: Bool

        package var sentence: String {
            "\(Quantity.count(count, "record")) of the history of runs cannot be read"
                + (isLast ? ", the last one among them: it is not known what was done last." : ".")
        }
    }
}

extension RunRecord {
    package var json: JSONValue {
        .object([
            .init("format", .integer(1)), .init("run", .string(run)), .init("operation", .string(operation.rawValue)),
            .init("result", .string(result.rawValue)), .init("from", .string(from)), .init("to", .string(to)),
            .init("startedAt", .string(startedAt)), .init("endedAt", .string(endedAt)),
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
            let operation = json["operation"]?.string.flatMap(Journal.Operation.init),
            let result = json["result"]?.string.flatMap(Result.init)
        else { return nil }
        self.init(
            run: run, operation: operation, result: result, from: json["from"]?.string ?? "",
            to: json["to"]?.string ?? "", startedAt: json["startedAt"]?.string ?? "",
            endedAt: json["endedAt"]?.string ?? "", seconds: json["seconds"]?.double ?? 0,
            backup: json["backup"]?.string, backups: json["backups"]?.string, rows: json["rows"]?.integer ?? 0,
            bytes: json["bytes"]?.integer ?? 0,
            error: json["error"]?.string, quarantined: json["quarantined"]?.integer ?? 0,
            fixed: json["fixed"]?.integer ?? 0, losses: MigrationLoss.list(json["losses"]),
            restored: json["restored"]?.string, removed: json["removedBackups"]?.array?.compactMap(\.string) ?? [])
    }
}
