import MoultFleet
import MoultModel
import MoultPlan
import MoultReport
import MoultSystem

extension Verb {
    static let fleet = Verb(
        "fleet", "Work on thousands of stores: plan, run, status, rollback, submit.",
        discussion: """
            plan finds the stores and writes a manifest, which never changes. run works on the stores of the manifest,
            each in a process of its own, and continues where an earlier run ended, whatever ended it. status shows the
            state of the fleet and what to do about failures. rollback undoes a run. On a cluster, each task of an array
            runs one shard of the manifest; submit does this with Slurm.
            """,
        subverbs: [planFleet, runFleet, fleetStatus, rollBackFleet, submitFleet])

    private static let planFleet = Verb(
        "plan", "Find stores, and write what will happen to each; no store is changed.",
        discussion: """
            A file is recognised as a store by its content, whatever its name. A ROOT is a file, a pattern in quotes, or
            a folder, which is then searched. In a backup of a device made by iTunes or the Finder, Manifest.db gives
            the name that each store has on the device. A store that is reached twice is listed once. Without -o the
            manifest is printed. With -o, the manifest is written to FILE.part, and renamed to FILE when it is complete.
            If the plan was stopped, the same command continues it.

            --shards fixes the number of shards. Each task of a cluster's array works on one of them.

            Exits with 1 if a store cannot be read, is of no version of the model, or cannot be migrated.
            """,
        operands: [roots],
        options: [.model, .target, .order, .answers, .mapping, list, shards, manifestFile],
        examples: ["moult fleet plan . --model Forum.xcdatamodeld -o fleet.jsonl"]
    ) { invocation, console in
        let (roots, lists) = (invocation.all(roots), invocation.all(list))
        guard !roots.isEmpty || !lists.isEmpty else {
            throw invocation.wrong("Name a folder, a file or a pattern, or a list of paths with --list.")
        }
        let versions = try invocation.namedVersions(console)
        let look = try StoreLook(versions, target: invocation[value: .target])
        let system = POSIXSystem()
        let manifest = FleetManifest(
            fleet: system.uniqueName(), plannedAt: system.now.iso8601, host: system.hostName,
            roots: (roots + lists.map { "@\($0)" }).map { (try? system.resolve($0)) ?? $0 },
            options: try invocation.fleetOptions(look.targetName), versions: versions.versions.map(\.name),
            modelDigest: versions.fleetDigest, target: look.targetName,
            shards: try invocation.number(shards, atLeast: 1) ?? 1)
        guard manifest.shards <= FleetManifest.mostShards else {
            throw invocation.wrong("--shards takes at most \(FleetManifest.mostShards).")
        }
        let outlook = try invocation.fleetOutlook(versions, console)
        let isStopping = Interruption.heard
        func plan(_ manifest: FleetManifest) -> FleetPlan {
            FleetPlan(manifest, look: look, outlook: outlook, isCancelled: isStopping)
        }
        let summary: FleetPlan.Summary
        if let path = invocation[value: manifestFile] {
            let draft = try ManifestDraft(manifest, for: path)
            summary = try plan(draft.manifest).run(roots, lists: lists, continuing: draft.earlier) { try draft.add($0) }
            try draft.finish()
            console.print(summary.document(path)) { summary.lines(path, style: $0) }
        } else {
            summary = try plan(manifest).run(roots, lists: lists) {
                console.exactly(String(decoding: $0, as: UTF8.self))
            }
            summary.lines("the manifest", style: .plain).forEach(console.say)
        }
        for error in summary.missed { console.say("\(error.place.printable): \(error.message.printable)") }
        return summary.isClean ? .done : .findings
    }

    private static let roots = Operand(
        "ROOT", "A folder, a file, or a pattern such as 'tenants/*/app.sqlite'.", isOptional: true, isRepeated: true)
    private static let list = Option.value(
        "list", "FILE", "A file with the path of a store or a folder on each line. May be given several times.",
        completes: .files)
    private static let shards = Option.value(
        "shards", "N", "The number of parts that the fleet is divided into; by default 1.")
    private static let manifestFile = Option.value(
        "out", "FILE", "The new manifest; -o for short. Nothing may exist at FILE; an unfinished plan is in FILE.part.",
        completes: .files)
}

// MARK: - The model's part

extension ModelVersions {
    /// A digest that identifies the versions: SHA-256 of their names and checksums.
    var fleetDigest: String {
        Digest.sha256(versions.flatMap { Array($0.name.utf8) + [0] + $0.hashes.checksum }).hexadecimal
    }
}

extension Invocation {
    /// Returns the options by which the processes of the run find the model and the way again; paths in full.
    fileprivate func fleetOptions(_ target: String) throws -> [String] {
        let system = POSIXSystem()
        var options: [String] = []
        for option in [Option.model, .mapping] {
            if let path = self[value: option] { options += ["--\(option.name)", try system.resolve(path)] }
        }
        if let answers = answersPath, try system.exists(answers) {
            options += ["--\(Option.answers.name)", try system.resolve(answers)]
        }
        if let order = self[value: .order] { options += ["--\(Option.order.name)", order] }
        let configuration = try configuration.map { try system.resolve($0.path) } ?? "none"
        return options + ["--\(Option.target.name)", target, "--\(Option.config.name)", configuration]
    }

    /// Says what happens to the stores of a version.
    fileprivate func fleetOutlook(
        _ versions: ModelVersions, _ console: Console
    ) throws -> (inout FleetGroup) throws -> Void {
        try versions.checkReleased()
        let answers = try answers(for: versions, console)
        let registered =
            (try self[value: .mapping].map { try [RegisteredStage](mappingsAt: $0, in: versions, registry) } ?? [])
            + (try registry.stages(in: versions))
        let target = self[value: .target]
        return { group in
            guard group.state == .behind else { return }
            do {
                let plan = try MigrationPlan(
                    versions, from: group.version, to: target, answers: answers, registered: registered)
                group.changes = plan.edges.flatMap(\.sentences)
            } catch let error as MigrationError {
                group.refusal = FleetEntry.Note(code: error.code.description, message: error.message)
            }
        }
    }
}

// MARK: - The file

/// The manifest while it is written, under another name.
private final class ManifestDraft {
    /// The one that an earlier call has begun, if it is about the same.
    let manifest: FleetManifest
    /// The lines of an earlier call.
    let earlier: String?
    private let path: String
    private let draft: String
    private var pending: [UInt8] = []
    private let system = POSIXSystem()
    /// Lines that the file has already.
    private var skipped: Int

    init(_ manifest: FleetManifest, for path: String) throws {
        (self.path, draft) = (path, path + ".part")
        guard try !system.exists(path) else { throw MigrationError.taken(path) }
        let begun = try FleetManifest(beginningOf: draft)
        if let begun, begun.isSame(as: manifest) {
            (self.manifest, earlier, skipped) = (begun, draft, 1)
        } else {
            (self.manifest, earlier, skipped) = (manifest, nil, 0)
            try system.write([], to: draft)
        }
    }

    func add(_ line: [UInt8]) throws {
        // The first line is there.
        guard skipped == 0 else {
            skipped -= 1
            return
        }
        pending += line
        if pending.count > 1 << 16 { try flush() }
    }

    private func flush() throws {
        guard !pending.isEmpty else { return }
        try system.append(pending, to: draft)
        pending = []
    }

    func finish() throws {
        try flush()
        try system.synchronise(draft)
        try system.rename(draft, toUnused: path)
    }

    deinit { try? flush() }
}

// MARK: - Words

extension FleetPlan.Summary {
    /// Whether every store that was found can be migrated or is of the version aimed at.
    fileprivate var isClean: Bool {
        missedCount == 0
            && groups.allSatisfy { [.behind, .current].contains($0.state) && $0.refusal == nil }
    }

    fileprivate func document(_ path: String) -> JSONValue {
        [
            "format": 1, "manifest": .string(path), "stores": JSONValue(stores), "files": JSONValue(files),
            "repeated": JSONValue(repeated), "resumed": JSONValue(resumed), "missed": JSONValue(missedCount),
            "seconds": .double(seconds), "groups": .array(groups.compactMap { $0.json["group"] }),
        ]
    }

    fileprivate func lines(_ path: String, style: TextStyle) -> [String] {
        var table = TextTable([
            .left("state"), .left("version"), .right("stores"), .right("size"), .right("rows"), .right("work"),
        ])
        for group in groups {
            table.add(
                group.state.rawValue, group.version, Quantity.count(group.stores),
                Quantity.bytes(Int(clamping: group.bytes)), Quantity.count(group.rows),
                Quantity.duration(group.estimate))
        }
        var lines = [
            "\(Quantity.count(stores, "store")) among \(Quantity.count(files, "file")), in "
                + "\(Quantity.duration(seconds)): \(path.printable)"
        ]
        if repeated > 0 { lines.append("\(Quantity.count(repeated, "name")) led to a store that is listed already.") }
        if resumed > 0 { lines.append("An earlier call had looked at \(Quantity.count(resumed, "store")).") }
        if missedCount > 0 { lines.append("\(Quantity.count(missedCount, "path")) could not be looked at.") }
        lines += table.lines(style: style)
        for group in groups where !group.changes.isEmpty {
            lines += ["", style.bold("\(group.version.printable):")] + group.changes.map { "  • \($0.printable)" }
        }
        for group in groups {
            guard let refusal = group.refusal else { continue }
            lines += ["", "\(style.red("refused")) \(group.version.printable): \(refusal.message.printable)"]
        }
        if !groups.isEmpty, groups.allSatisfy({ [.unknown, .unreadable].contains($0.state) }) {
            lines.append("No store is of a version of the model. Check --model.")
        }
        return lines
    }
}
