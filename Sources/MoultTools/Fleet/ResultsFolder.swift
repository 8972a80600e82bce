import MoultBasics

/// The results folder of one fleet and one verb. Any number of processes and machines write to it, each to its own
/// shard.
package struct ResultsFolder: Sendable {
    package let path: String
    private let system = POSIXSystem()

    /// The fleet, the manifest and the verb that the folder belongs to.
    package struct Purpose: Sendable, Equatable {
        package var fleet: String
        /// The digest of the manifest.
        package var manifest: String
        package var verb: String
        /// The options of the verb.
        package var options: [String]
        package var shards: Int

        package init(_ manifest: FleetManifest, verb: String, options: [String]) {
            (fleet, self.manifest, self.verb) = (manifest.fleet, manifest.digest, verb)
            (self.options, shards) = (options, manifest.shards)
        }
    }

    package init(_ path: String) { self.path = path }

    /// Returns the default path of the results folder, next to the manifest.
    package static func path(of manifest: String, verb: String) -> String {
        let stem = manifest.hasSuffix(".jsonl") ? String(manifest.dropLast(6)) : manifest
        return "\(stem).\(verb.split(separator: " ").joined(separator: "-"))"
    }

    package var purposePath: String { Path.join(path, "fleet.json") }
    /// The prefix of an incomplete record's name.
    private static let unfinished = ".fleet.json."

    /// Creates the folder for a purpose, or checks that it has this purpose.
    ///
    /// - Throws: `wouldReplace` if the folder belongs to another fleet, manifest, verb or set of options.
    package func open(for purpose: Purpose) throws {
        if let known = try known() {
            try check(known, purpose)
            // Remove leftovers of killed processes. A process that is still writing will find the complete record.
            for name in try system.list(path) where name.hasPrefix(Self.unfinished) {
                try system.remove(Path.join(path, name))
            }
            return
        }
        try system.makeFolder(path)
        let temporary = Path.join(path, Self.unfinished + system.uniqueName())
        try system.write(Array((purpose.json.compact + "\n").utf8), to: temporary)
        defer { _ = try? system.remove(temporary) }
        do {
            try system.rename(temporary, toUnused: purposePath)
        } catch let error as MigrationError {
            // Another shard has written the record first.
            guard let known = try known() else { throw error }
            try check(known, purpose)
        }
    }

    /// Reads the purpose of the folder; nil if there is no such folder yet.
    package func known() throws -> Purpose? {
        guard try system.exists(purposePath) else { return nil }
        let json = try JSONValue(parsing: system.read(purposePath), place: purposePath, code: .metadataInvalid)
        guard let known = Purpose(json) else {
            throw MigrationError(
                .metadataInvalid, "The record in the results folder was not written by Moult.",
                place: purposePath, remedy: "Name another folder with \(option: .results).")
        }
        return known
    }

    private func check(_ known: Purpose, _ purpose: Purpose) throws {
        guard known != purpose else { return }
        let what =
            known.fleet != purpose.fleet
            ? "another fleet" : known.manifest != purpose.manifest ? "another manifest" : "\(known.command)"
        throw MigrationError(
            .wouldReplace, "The folder has the results of \(what).", place: path,
            remedy:
                "Name the manifest, the verb and the options that it was begun with, or another folder with "
                + "\(option: .results)."
        )
    }

    package func shard(_ index: Int) -> ShardFolder { ShardFolder(Path.join(path, "shard-\(index)"), index) }
}

extension ResultsFolder.Purpose {
    var command: String { ([verb] + options).joined(separator: " ") }

    var json: JSONValue {
        [
            "format": 1, "fleet": .string(fleet), "manifest": .string(manifest), "verb": .string(verb),
            "options": JSONValue(options), "shards": JSONValue(shards),
        ]
    }

    init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let fleet = json["fleet"]?.string,
            let manifest = json["manifest"]?.string, let verb = json["verb"]?.string,
            let options = json["options"]?.array?.compactMap(\.string), let shards = json["shards"]?.integer
        else { return nil }
        (self.fleet, self.manifest, self.verb, self.options) = (fleet, manifest, verb, options)
        self.shards = Int(clamping: shards)
    }
}

/// The results of one shard: a file for each store until all results are known, then a single file.
package struct ShardFolder: Sendable {
    package let path: String
    package let index: Int
    private let system = POSIXSystem()

    init(_ path: String, _ index: Int) { (self.path, self.index) = (path, index) }

    /// The contents found in the folder.
    package struct Contents: Sendable {
        package var results: [Int: FleetResult] = [:]
        /// Files without a valid result: torn by a power failure, or written by another program.
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

    /// Writes a result atomically, so that a reader never finds a part of it.
    ///
    /// It is not synchronised to disk: a result lost in a power failure is determined again from the store itself.
    package func write(_ result: FleetResult) throws {
        let part = Path.join(path, ".\(result.number).part")
        try system.write(Array((result.json.compact + "\n").utf8), to: part)
        try system.rename(part, to: file(result.number))
    }

    /// Reads every result, even while others write.
    package func contents() throws -> Contents {
        var contents = Contents()
        guard try system.exists(path) else { return contents }
        // Read the single files first: a result that moves to the joint file in the meantime is found there.
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

    /// Moves all results into one file, so that a fleet of millions of stores does not leave millions of files.
    package func join(_ results: [Int: FleetResult]) throws {
        let lines = results.values.sorted { $0.number < $1.number }.map { $0.json.compact + "\n" }
        try system.writeAtomically(Array(lines.joined().utf8), to: together)
        for number in results.keys { try system.remove(file(number)) }
        try system.remove(attemptsPath)
    }

    // MARK: - The owner

    /// Locks the shard for this process, waiting at most the given number of seconds. It removes the unfinished files
    /// of a killed process.
    ///
    /// - Throws: `locked` if another process holds the lock.
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

        /// Whether the process may still be running. A process on another machine counts as running.
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

    /// The process that has locked the shard, or that died while it held the lock.
    package var owner: Owner? {
        guard let bytes = try? system.read(ownerPath),
            let json = try? JSONValue(parsing: bytes, place: ownerPath, code: .metadataInvalid)
        else { return nil }
        return Owner(json)
    }
}
