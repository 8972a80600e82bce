import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultTransform

extension Verb {
    static let restoreQuarantine = Verb(
        "restore", "Put objects from the quarantine back into their store.",
        discussion: """
            An object is put back if it fits the version that the store has now: with its key if that is free, and with
            its links if their destinations exist and belong to no other object. What does not fit stays in the
            quarantine, and the reason is printed. A restore works as a migration does: backed up, changed on a copy,
            verified, then committed. --dry-run does all of this on a copy that is not kept. Exits with 1 if an object
            had to stay.
            """,
        operands: [.store, entryNumber], options: [.model, everything, run, .dryRun, .backups, .order],
        examples: [
            "moult quarantine restore forum.sqlite --all --model Forum.xcdatamodeld --dry-run",
            "moult quarantine restore forum.sqlite --all --model Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let entries = try invocation.entriesToRestore()
        try invocation.heal(store)
        let version = try invocation.versions(console).version(ofStore: store)
        if entries == nil, try Quarantine(invocation.sidecar(of: store)).newest() == nil {
            console.print(RestorationReport().document(of: nil)) { _ in ["The quarantine is empty."] }
            return .done
        }
        let restoration = try Restoration(of: entries, run: invocation[value: run], into: store, at: version)
        let progress = ProgressDisplay(console)
        let outcome: MigrationOutcome?
        do {
            defer { progress.end() }
            let (migrator, migration) = (invocation.migrator, restoration.migration)
            if invocation[.dryRun] {
                _ = try migrator.rehearse(migration, on: store, progress.observer)
                outcome = nil
            } else {
                outcome = try migrator.run(migration, on: store, progress.observer)
            }
        }
        let report = restoration.report
        console.print(report.document(of: outcome)) { report.lines(of: outcome, style: $0) }
        return report.refused.isEmpty ? .done : .findings
    }

    fileprivate static let entryNumber = Operand(
        "ID", "The number that quarantine list shows.", isOptional: true, completes: .nothing)
    fileprivate static let everything = Option.flag("all", "Put back every object that fits.")
    fileprivate static let run = Option.value(
        "run", "RUN", "Put back the objects that this run moved to the quarantine.")
}

extension Invocation {
    /// The numbers that were given; nil for all.
    fileprivate func entriesToRestore() throws -> [Int64]? {
        let number = self[Verb.entryNumber]
        let ways = [number != nil, self[Verb.everything], self[value: Verb.run] != nil].count { $0 }
        guard ways == 1 else { throw wrong("Name what to put back: a number, --run RUN, or --all.") }
        return try number.map { text in
            guard let id = Int64(text) else { throw wrong("\(text) is not a number in the quarantine.") }
            return [id]
        }
    }
}

extension RestorationReport {
    fileprivate func document(of outcome: MigrationOutcome?) -> JSONValue {
        [
            "format": 1, "dryRun": .bool(outcome == nil), "run": JSONValue(outcome?.run),
            "backup": JSONValue(outcome?.backup?.name), "prunedBackups": JSONValue(outcome?.pruned ?? []),
            "count": JSONValue(restored.count),
            "restored": .array(
                restored.map { object in
                    [
                        "id": .integer(object.entry), "entity": .string(object.id.entityName),
                        "pk": .integer(object.id.key), "oldPk": object.oldKey.map(JSONValue.integer) ?? .null,
                        "lostLinks": JSONValue(object.lostLinks),
                    ]
                }),
            "refused": .array(
                refused.map { object in
                    [
                        "id": .integer(object.entry), "entity": .string(object.entityName),
                        "pk": .integer(object.key), "reason": .string(object.reason),
                    ]
                }),
        ]
    }

    fileprivate func lines(of outcome: MigrationOutcome?, style: TextStyle) -> [String] {
        let verb = outcome == nil ? "would be put back" : "put back"
        var lines = ["\(style.green(Quantity.count(restored.count, "object"))) \(verb)."]
        for object in restored {
            let name = "  \(object.id.entityName.printable) \(object.id.key)"
            if let old = object.oldKey { lines.append("\(name): a new key, because another object now has \(old)") }
            lines += object.lostLinks.map { "\(name): left out \($0.printable)" }
        }
        if !refused.isEmpty {
            lines.append("\(style.yellow(Quantity.count(refused.count, "object"))) stay in the quarantine:")
            lines += refused.map { "  \($0.entityName.printable) \($0.key): \($0.reason.printable)" }
        }
        if let backup = outcome?.backup?.name {
            lines.append("The old store is kept as the backup \(backup).")
        } else {
            lines.append("Rehearsed and verified on a copy. The store is unchanged.")
        }
        return lines + (outcome?.removals ?? [])
    }
}
