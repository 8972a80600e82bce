import MoultBasics
import MoultEngine
import MoultObjects
import MoultSession

extension RepairReport {
    package var document: JSONValue {
        [
            "format": 1, "dryRun": .bool(isRehearsal), "run": JSONValue(run), "backup": JSONValue(backup?.name),
            "prunedBackups": JSONValue(prunedBackups), "count": .integer(count), "left": .integer(left),
            "quarantined": .integer(quarantined), "space": .array(space.peak.map(\.document)),
            "findings": .array(
                faults.map { fault in
                    [
                        "rule": .string(fault.rule.rawValue), "place": .string(fault.place),
                        "count": .integer(fault.count), "keys": .array(fault.keys.map(JSONValue.integer)),
                        "quarantined": .integer(fault.quarantined), "left": .integer(fault.left),
                        "bytes": [.externalFiles, .space].contains(fault.rule) ? .integer(fault.bytes) : .null,
                        "remedy": .string(fault.sentence(isDone: outcome != nil)),
                    ]
                }), "remarks": .array(remarks.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let found = foundLines(style)
        guard isAttempted else {
            return found + [isWell ? "Nothing to repair." : "Nothing that a repair can fix; see above."]
        }
        var lines = found + (outcome.map(doneLines) ?? rehearsedLines)
        if left > 0 {
            let rows = style.yellow(Quantity.count(left, "row"))
            lines.append("\(rows) \(left == 1 ? "is" : "are") left: the right value is not known.")
        }
        if leavesRows {
            lines.append(
                outcome == nil
                    ? "The rows are checked after tables and indexes are repaired."
                    : String(advice: "Next: \(.repair, .dryRun) checks the rows."))
        }
        return lines
    }

    private var rehearsedLines: [String] {
        ["Rehearsed and verified on a copy. The store is unchanged."] + (spaceSentence.map { [$0] } ?? [])
    }

    private func foundLines(_ style: TextStyle) -> [String] {
        let remarks = remarks.flatMap { $0.lines(style: style) }
        guard !faults.isEmpty else { return remarks }
        let isDone = outcome != nil
        var table = TextTable([
            .left("rule"), .left("at"), .right("rows"), .right("quarantined"), .right("left"),
            .left(isDone ? "what was done" : "what will be done"),
        ])
        for fault in faults {
            table.add(
                fault.rule.rawValue, fault.place, Quantity.count(fault.count), Quantity.count(fault.quarantined),
                Quantity.count(fault.left), fault.sentence(isDone: isDone))
        }
        return remarks + table.lines(style: style)
    }

    private func doneLines(_ outcome: MigrationOutcome) -> [String] {
        var lines = outcome.backup.map { ["The old store is kept as the backup \($0.name)."] } ?? []
        if let files = faults.first(where: { $0.rule == .externalFiles }) {
            lines.append(
                "\(Quantity.count(files.count, "file")), \(Quantity.bytes(files.bytes)): "
                    + "external-files/\(outcome.run) in the store's .moult folder. Remove what nobody needs.")
        }
        if faults.contains(where: { $0.rule == .space }) {
            lines.append(
                "\(Quantity.bytes(outcome.bytesBefore)) became \(Quantity.bytes(outcome.bytesAfter)).")
        }
        lines += outcome.removals
        if quarantined > 0 {
            lines.append(String(advice: "\(.restoreQuarantined, .run(outcome.run)) puts objects back."))
        }
        return lines
    }
}

/// The objects of a store's quarantine, oldest first.
package struct QuarantineListing: Sendable {
    /// The first objects, up to a limit.
    package private(set) var objects: [QuarantineEntry] = []
    /// The number of all objects.
    package private(set) var count = 0

    package init(_ quarantine: Quarantine, limit: Int) throws {
        try quarantine.forEachEntry { entry in
            count += 1
            if count <= limit { objects.append(entry) }
        }
    }

    package var document: JSONValue {
        ["format": 1, "count": JSONValue(count), "quarantined": .array(objects.map(\.summary))]
    }

    package func lines(style: TextStyle) -> [String] {
        if count == 0 { return ["The quarantine is empty."] }
        var table = TextTable([
            .right("id"), .left("time"), .left("entity"), .right("key"), .left("by"), .left("reason"),
        ])
        for entry in objects {
            table.add("\(entry.id)", entry.time, entry.entityName, "\(entry.key)", entry.origin, entry.reason)
        }
        let rest = count - objects.count
        guard rest > 0 else { return table.lines(style: style) }
        return table.lines(style: style) + [
            String(advice: "… and \(Quantity.count(rest)) more: see \(option: .limit).")
        ]
    }
}

extension QuarantineEntry {
    private var members: [JSONValue.Member] {
        [
            .init("id", .integer(id)), .init("run", .string(run)), .init("time", .string(time)),
            .init("entity", .string(entityName)), .init("pk", .integer(key)), .init("reason", .string(reason)),
            .init("by", .string(origin)),
        ]
    }

    /// The object without its values, which may be large.
    fileprivate var summary: JSONValue { .object(members) }

    /// - Throws: `metadataInvalid` if the quarantine's own record of the values is damaged.
    package var document: JSONValue { get throws { .object(members + [.init("object", try values)]) } }

    private var values: JSONValue {
        get throws { try JSONValue(parsing: Array(json.utf8), place: "quarantine \(id)", code: .metadataInvalid) }
    }

    /// Returns the object for a person: its origin and the reason for its removal, then one property on each line.
    package func lines(style: TextStyle) throws -> [String] {
        var table = TextTable([.left(""), .left("")])
        for property in try values.members ?? [] { table.add("  \(property.key)", Self.text(property.value)) }
        return [
            style.bold("\(entityName.printable) \(key)"),
            "removed \(time) by \(origin.printable), run \(run.printable)", reason.printable,
        ] + table.lines(style: style)
    }

    private static func text(_ value: JSONValue) -> String {
        // Links that led to the object, which are not among its own properties.
        if let links = value.array {
            return links.map { "\($0["from"]?.string ?? "") by \($0["relationship"]?.string ?? "")" }
                .joined(separator: ", ")
        }
        if let list = value["toMany"]?.array { return list.compactMap(\.string).joined(separator: ", ") }
        guard let held = value["toOne"] ?? value["value"], held != .null else { return "nil" }
        return held.string ?? held.compact
    }
}

/// The result of restoring objects from the quarantine.
public struct RestorationReport: Sendable {
    /// An object that was restored to the store.
    public typealias Restored = RestorationResult.Restored
    /// An object that stays in the quarantine.
    public typealias Refused = RestorationResult.Refused

    private let result: RestorationResult
    private let outcome: MigrationOutcome?

    /// - Parameter outcome: the outcome of the run; nil if nothing was changed.
    package init(_ result: RestorationResult, _ outcome: MigrationOutcome?) {
        (self.result, self.outcome) = (result, outcome)
    }

    /// The objects that were, or would be, restored to the store.
    public var restored: [Restored] { result.restored }
    /// The objects that stay in the quarantine.
    public var refused: [Refused] { result.refused }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy removed.
    public var prunedBackups: [String] { outcome?.pruned ?? [] }

    package var document: JSONValue {
        [
            "format": 1, "dryRun": .bool(outcome == nil), "run": JSONValue(run), "backup": JSONValue(backup?.name),
            "prunedBackups": JSONValue(prunedBackups), "count": JSONValue(restored.count),
            "restored": .array(
                restored.map { object in
                    [
                        "id": .integer(object.id), "entity": .string(object.entityName), "pk": .integer(object.key),
                        "oldPk": object.oldKey.map(JSONValue.integer) ?? .null,
                        "lostLinks": JSONValue(object.lostLinks),
                    ]
                }),
            "refused": .array(
                refused.map { object in
                    [
                        "id": .integer(object.id), "entity": .string(object.entityName), "pk": .integer(object.key),
                        "reason": .string(object.reason),
                    ]
                }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        if restored.isEmpty, refused.isEmpty { return ["The quarantine is empty."] }
        let verb = outcome == nil ? "would be put back" : "put back"
        var lines = ["\(style.green(Quantity.count(restored.count, "object"))) \(verb)."]
        for object in restored {
            let name = "  \(object.entityName.printable) \(object.key)"
            if let old = object.oldKey { lines.append("\(name): a new key, because another object now has \(old)") }
            lines += object.lostLinks.map { "\(name): left out \($0.printable)" }
        }
        if !refused.isEmpty {
            lines.append("\(style.yellow(Quantity.count(refused.count, "object"))) stay in the quarantine:")
            lines += refused.map { "  \($0.entityName.printable) \($0.key): \($0.reason.printable)" }
        }
        if let backup {
            lines.append("The old store is kept as the backup \(backup.name).")
        } else {
            lines.append("Rehearsed and verified on a copy. The store is unchanged.")
        }
        return lines + (outcome?.removals ?? [])
    }
}
