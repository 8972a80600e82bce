import MoultModel
import MoultSystem

/// The results of one shard: a file for each store, until all are known; then one file.
package struct ShardFolder: Sendable {
    package let path: String
    package let index: Int
    private let system = POSIXSystem()

    init(_ path: String, _ index: Int) { (self.path, self.index) = (path, index) }

    /// The contents of the folder, as they were found.
    package struct Contents: Sendable {
        package var results: [Int: FleetResult] = [:]
        /// Files that hold no result: torn by a machine that lost power, or written by something else.
        package var torn: [String] = []

        package init() {}
    }

    private var together: String { Path.join(path, "results.jsonl") }
    package var attemptsPath: String { Path.join(path, "attempts.log") }
    package var lockPath: String { Path.join(path, "lock") }
    package var ownerPath: String { Path.join(path, "owner.json") }
    package var canaryPath: String { Path.join(path, "canary.json") }
    private func file(_ number: Int) -> String { Path.join(path, "\(number).json") }

    package func make() throws { try system.makeFolder(path) }

    /// Writes a result so that a reader finds the whole of it or nothing.
    ///
    /// It is not synchronised: what a power cut takes is found out again, from the store itself.
    package func write(_ result: FleetResult) throws {
        let part = Path.join(path, ".\(result.number).part")
        try system.write(Array((result.json.compact + "\n").utf8), to: part)
        try system.rename(part, to: file(result.number))
    }

    /// Every result, while others write.
    package func contents() throws -> Contents {
        var contents = Contents()
        guard try system.exists(path) else { return contents }
        // The single files first: one that goes into the other file in the meantime is found there.
        for entry in try system.entries(of: path) where entry.kind == .file && entry.name.hasSuffix(".json") {
            guard let number = Int(entry.name.dropLast(5)) else { continue }
            let file = Path.join(path, entry.name)
            let bytes: [UInt8]
            do {
                bytes = try system.read(file)
            } catch let error as MigrationError {
                if error.code != .fileNotFound { contents.torn.append(file) }
                continue
            }
            if let result = FleetResult(bytes), result.number == number {
                contents.results[number] = result
            } else {
                contents.torn.append(file)
            }
        }
        if try system.exists(together) {
            try FleetManifest.forEachLine(of: together) { line in
                guard let result = FleetResult(line) else { return contents.torn.append(together) }
                if contents.results[result.number] == nil { contents.results[result.number] = result }
            }
        }
        return contents
    }

    /// Puts all results into one file, so that a fleet of millions does not leave millions of files.
    package func join(_ results: [Int: FleetResult]) throws {
        let lines = results.values.sorted { $0.number < $1.number }.map { $0.json.compact + "\n" }
        try system.writeAtomically(Array(lines.joined().utf8), to: together)
        for number in results.keys { try system.remove(file(number)) }
        try system.remove(attemptsPath)
    }

    // MARK: - Who works on it

    /// Takes the shard for this process, and waits for it at most so long. Files that a killed process has not finished are
    /// removed.
    ///
    /// - Throws: `locked` if another process has it.
    package func take(waiting seconds: Double) throws -> FileLock {
        let start = system.monotonicNanoseconds
        while true {
            if let lock = try system.lock(lockPath) {
                for name in try system.list(path) where name.hasSuffix(".part") {
                    try system.remove(Path.join(path, name))
                }
                try system.write(Array((Owner(system).json.compact + "\n").utf8), to: ownerPath)
                return lock
            }
            guard system.seconds(since: start) < seconds else { throw locked }
            ForkedProcess.wait(for: [], milliseconds: 200)
        }
    }

    private var locked: MigrationError {
        let who = owner.map { "Process \($0.process) on \($0.host)" } ?? "Another process"
        return MigrationError(
            .locked, "\(who) works on shard \(index).", place: path,
            remedy: "Wait until it has ended, or let this run wait: \(option: .wait("10min")).")
    }

    package func leave() { _ = try? system.remove(ownerPath) }

    package struct Owner: Sendable, Equatable {
        package var host: String
        package var process: Int32
        package var startTime: String

        /// False if it is known to have ended; a process of another machine is believed.
        package var mayBeAlive: Bool {
            let system = POSIXSystem()
            return host != system.hostName || system.startTime(ofProcess: process) == startTime
        }

        init(_ system: POSIXSystem) {
            (host, process) = (system.hostName, system.processIdentifier)
            startTime = system.startTime(ofProcess: process) ?? ""
        }

        var json: JSONValue {
            ["host": .string(host), "process": .integer(Int64(process)), "startTime": .string(startTime)]
        }

        init?(_ json: JSONValue) {
            guard let host = json["host"]?.string, let process = json["process"]?.integer else { return nil }
            (self.host, self.process) = (host, Int32(clamping: process))
            startTime = json["startTime"]?.string ?? ""
        }
    }

    /// The process that has taken the shard, or had it and died.
    package var owner: Owner? {
        guard let bytes = try? system.read(ownerPath),
            let json = try? JSONValue(parsing: bytes, place: ownerPath, code: .metadataInvalid)
        else { return nil }
        return Owner(json)
    }
}
