import MoultEngine
import MoultModel
import MoultTransform

/// A report on what a migration policy has made of the objects of one entity mapping.
extension InstanceCounts {
    package var document: JSONValue {
        [
            "mapping": .string(mapping), "policy": .string(policy), "entity": JSONValue(entityName),
            "sources": .integer(sources), "kept": .integer(kept), "split": .integer(split), "merged": .integer(merged),
            "dropped": .integer(dropped), "quarantined": .integer(quarantined), "made": .integer(made),
            "reasons": Self.document(reasons), "notes": Self.document(notes),
        ]
    }

    /// Such as `UserMigrationPolicy: 26 of User: 23 kept, 2 merged, 1 quarantined; avatar dropped: 2.`
    package var line: String {
        let outcomes = [
            (kept, "kept"), (split, "split"), (merged, "merged"), (dropped, "dropped"), (quarantined, "quarantined"),
        ]
        let parts = outcomes.filter { $0.0 > 0 }.map { "\(Quantity.count(Int(clamping: $0.0))) \($0.1)" }
        let told = (Self.sorted(reasons) + Self.sorted(notes)).map {
            "; \($0.key): \(Quantity.count(Int(clamping: $0.value)))"
        }
        let all = "\(Quantity.count(Int(clamping: sources))) of \(entityName ?? mapping)"
        return "\(policy): \(all)\(parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))\(told.joined())".printable
    }

    private static func sorted(_ counts: [String: Int64]) -> [(key: String, value: Int64)] {
        counts.sorted { $0.key.precedesInByteOrder($1.key) }
    }

    private static func document(_ counts: [String: Int64]) -> JSONValue {
        .object(sorted(counts).map { .init($0.key, .integer($0.value)) })
    }
}
