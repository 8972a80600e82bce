import MoultEngine
import MoultModel
import MoultTransform

/// The result of restoring objects from the quarantine.
public struct RestorationReport: Sendable {
    /// An object that is in the store again.
    public typealias Restored = RestorationResult.Restored
    /// An object that stays in the quarantine.
    public typealias Refused = RestorationResult.Refused

    private let result: RestorationResult
    private let outcome: MigrationOutcome?

    /// - Parameter outcome: nil if nothing was changed.
    package init(_ result: RestorationResult, _ outcome: MigrationOutcome?) {
        (self.result, self.outcome) = (result, outcome)
    }

    /// The objects that are in the store again, or would be.
    public var restored: [Restored] { result.restored }
    /// The objects that stay.
    public var refused: [Refused] { result.refused }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy let go.
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
