import MoultBasics

/// The result of one store, in a file that is written when the result is known.
package struct FleetResult: Sendable, Equatable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The verb succeeded, or there was nothing to do.
        case done
        /// The verb reported findings.
        case findings
        /// The verb failed; the next run retries it.
        case failed
        /// The verb needs a decision or a change by the user before a retry.
        case refused
        /// The store's processes died repeatedly. It is retried only on request.
        case setAside
        /// The path holds another store than planned.
        case changed
        /// The file no longer exists.
        case vanished
        /// The store is the same file as an earlier store of the manifest.
        case duplicate
        /// The backup was restored.
        case rolledBack
        /// The backup could not be restored.
        case rollbackFailed

        /// Whether the next run retries the store without being asked.
        package var isRetried: Bool { self == .failed }
        package var isGood: Bool { [.done, .rolledBack].contains(self) }
    }

    package struct Backup: Sendable, Hashable {
        package var name: String
        /// The backup's own folder.
        package var folder: String

        package init(name: String, folder: String) { (self.name, self.folder) = (name, folder) }
    }

    package struct Failure: Sendable, Hashable {
        package var code: String
        package var message: String
        package var remedy: String
    }

    /// The number of the store in the manifest.
    package var number: Int
    package var path: String
    package var state: State
    package var verb: String
    /// The number of attempts, and the number of them whose process died.
    package var attempts = 1
    package var deaths = 0
    package var host = ""
    package var startedAt = ""
    package var endedAt = ""
    package var seconds: Double = 0
    /// The estimated number of seconds.
    package var estimate: Double = 0
    /// The peak memory of the process, in bytes.
    package var memory: Int64 = 0
    /// The exit code or the signal with which the last process ended; both nil if none was started.
    package var exit: Int32?
    package var signal: Int32?
    /// `time` or `memory` if the process was ended for exceeding that limit.
    package var limit: String?
    package var failure: Failure?
    /// The last output of the process on standard error if it died, or a sentence if the whole run died each time.
    package var evidence: String?
    package var from: String?
    package var to: String?
    package var rows: Int64?
    package var backup: Backup?
    /// Whether an earlier attempt did the work and died before it could report it.
    package var wasDoneBefore = false
    /// The differences between the store and the plan that did not prevent the work: `written`, `grown`, `replaced`,
    /// `migrated`.
    package var differences: [String] = []
    /// The number of findings, for a verb that reports them.
    package var findings: Int?

    package init(_ entry: FleetEntry, _ state: State, verb: String) {
        (number, path, self.state, self.verb) = (entry.number, entry.path, state, verb)
        estimate = entry.estimate
    }
}

// MARK: - As a file

extension FleetResult {
    package var json: JSONValue {
        [
            "format": 1, "n": JSONValue(number), "path": .string(path), "state": .string(state.rawValue),
            "verb": .string(verb), "attempts": JSONValue(attempts), "deaths": JSONValue(deaths), "host": .string(host),
            "startedAt": .string(startedAt), "endedAt": .string(endedAt), "seconds": .double(seconds),
            "estimate": .double(estimate), "memory": .integer(memory), "exit": number(exit), "signal": number(signal),
            "limit": JSONValue(limit),
            "error": failure.map {
                ["code": .string($0.code), "message": .string($0.message), "remedy": .string($0.remedy)]
            } ?? .null,
            "evidence": JSONValue(evidence), "from": JSONValue(from), "to": JSONValue(to),
            "rows": rows.map(JSONValue.integer) ?? .null,
            "backup": backup.map { ["name": .string($0.name), "folder": .string($0.folder)] } ?? .null,
            "wasDoneBefore": .bool(wasDoneBefore), "differences": JSONValue(differences),
            "findings": findings.map { JSONValue($0) } ?? .null,
        ]
    }

    private func number(_ number: Int32?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }

    /// - Parameter bytes: a single line.
    /// - Returns: nil for a torn file, or one that is not a result.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let json = try? JSONValue(parsing: Array(bytes), place: "", code: .metadataInvalid),
            json["format"]?.integer == 1, let number = json["n"]?.integer, let path = json["path"]?.string,
            let state = json["state"]?.string.flatMap(State.init), let verb = json["verb"]?.string
        else { return nil }
        (self.number, self.path, self.state, self.verb) = (Int(clamping: number), path, state, verb)
        attempts = Int(clamping: json["attempts"]?.integer ?? 1)
        deaths = Int(clamping: json["deaths"]?.integer ?? 0)
        host = json["host"]?.string ?? ""
        (startedAt, endedAt) = (json["startedAt"]?.string ?? "", json["endedAt"]?.string ?? "")
        (seconds, estimate) = (json["seconds"]?.double ?? 0, json["estimate"]?.double ?? 0)
        memory = json["memory"]?.integer ?? 0
        exit = json["exit"]?.integer.map { Int32(clamping: $0) }
        signal = json["signal"]?.integer.map { Int32(clamping: $0) }
        limit = json["limit"]?.string
        failure = Failure(json["error"])
        evidence = json["evidence"]?.string
        (from, to, rows) = (json["from"]?.string, json["to"]?.string, json["rows"]?.integer)
        if let name = json["backup"]?["name"]?.string, let folder = json["backup"]?["folder"]?.string {
            backup = Backup(name: name, folder: folder)
        }
        wasDoneBefore = json["wasDoneBefore"]?.bool ?? false
        differences = json["differences"]?.array?.compactMap(\.string) ?? []
        findings = json["findings"]?.integer.map { Int(clamping: $0) }
    }
}

extension FleetResult.Failure {
    /// Creates a failure from the `error` of a verb's document.
    init?(_ json: JSONValue?) {
        guard let code = json?["code"]?.string, let message = json?["message"]?.string else { return nil }
        self.init(code: code, message: message, remedy: json?["remedy"]?.string ?? "")
    }

    init(_ error: MigrationError) {
        self.init(code: error.code.description, message: error.message, remedy: error.remedy)
    }
}

/// A log of the attempts on the stores of a shard and their ends, with a line for each event. If a run dies with all
/// its processes, the log tells the next run which stores were in progress.
package struct AttemptLog: Sendable {
    package struct Record: Sendable, Equatable {
        /// The number of attempts.
        package var attempts = 0
        /// The number of attempts whose process died.
        package var deaths = 0
        /// Whether an attempt is in progress, or died together with the run.
        package var isOpen = false
        fileprivate var isAlone = false

        /// Whether the store was in progress when the run died. It is tried last and alone; if the run dies again, the
        /// store is the cause.
        package var isSuspect = false
    }

    private let path: String
    private let system = POSIXSystem()

    package init(_ shard: ShardFolder) { path = shard.attemptsPath }

    /// - Parameter isAfterwards: whether the run that wrote the log has ended, so that any open attempts have died.
    package func records(isAfterwards: Bool) throws -> [Int: Record] {
        var records: [Int: Record] = [:]
        guard try system.exists(path) else { return records }
        func settle(_ number: Int) {
            guard var record = records[number], record.isOpen else { return }
            if record.isAlone { record.deaths += 1 }
            (record.isSuspect, record.isOpen) = (true, false)
            records[number] = record
        }
        try FleetManifest.forEachLine(of: path) { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            if words.first == "run" { return records.keys.forEach(settle) }
            // Skip a line that a power failure has torn.
            guard words.count >= 2, let number = Int(words[1]) else { return }
            switch words[0] {
            case "begin":
                records[number, default: Record()].attempts += 1
                records[number]?.isOpen = true
                records[number]?.isAlone = words.count > 2
            case "death":
                records[number]?.deaths += 1
                records[number]?.isOpen = false
            case "end": records[number]?.isOpen = false
            case "forget": records[number] = nil
            default: break
            }
        }
        if isAfterwards { records.keys.forEach(settle) }
        return records
    }

    package enum Line: Sendable {
        /// The start of a run. Any open attempts have died with the previous run.
        case run
        case begin(Int, isAlone: Bool)
        case death(Int)
        case end(Int)
        /// A fresh start for the store, which discards its earlier attempts.
        case forget(Int)

        var text: String {
            switch self {
            case .run: "\nrun"
            case .begin(let number, let isAlone): "begin \(number)\(isAlone ? " alone" : "")"
            case .death(let number): "death \(number)"
            case .end(let number): "end \(number)"
            case .forget(let number): "forget \(number)"
            }
        }
    }

    package func add(_ line: Line) throws { try system.append(Array((line.text + "\n").utf8), to: path) }
}
