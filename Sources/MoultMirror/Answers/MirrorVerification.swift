import MoultModel

/// The comparison of a mirror's store with a fresh migration.
public struct MirrorVerification: Sendable, Hashable {
    /// A table in which rows differ.
    public struct Difference: Sendable, Hashable {
        /// The table's name.
        public package(set) var table: String
        /// Rows that only the fresh migration has, or has so.
        public package(set) var missing: Int64
        /// Rows that only the store that follows has, or has so.
        public package(set) var surplus: Int64
        /// The first keys of either.
        public package(set) var keys: [Int64]
    }

    /// The outcome of the step before the comparison; nil if the store that follows could not be brought up to date.
    package var outcome: MirrorSync?
    /// The reason why the store that follows could not be brought up to date; nil if it could.
    public package(set) var obstacle: String?
    /// The tables in which rows differ.
    public package(set) var differences: [Difference]
    /// Other things that differ: tables, indexes, keys of the metadata, files of external data.
    public package(set) var others: [String]
    /// Rows of the fresh migration that were compared.
    public package(set) var rows: Int64

    /// Whether nothing differs and the comparison was possible.
    public var isEqual: Bool { obstacle == nil && differences.isEmpty && others.isEmpty }

    package var document: JSONValue {
        [
            "format": 1, "equal": .bool(isEqual), "rows": .integer(rows), "obstacle": JSONValue(obstacle),
            "differences": .array(
                differences.map { difference in
                    [
                        "table": .string(difference.table), "missing": .integer(difference.missing),
                        "surplus": .integer(difference.surplus),
                        "keys": .array(difference.keys.map(JSONValue.integer)),
                    ]
                }), "others": JSONValue(others),
        ]
    }

    package var lines: [String] {
        if isEqual {
            return ["Equal: \(Quantity.count(rows, "row")) compared, value by value, with a fresh migration."]
        }
        return (obstacle.map { ["Not brought up to date: \($0)"] } ?? [])
            + differences.map { difference in
                "\(difference.table): \(Quantity.count(difference.missing, "row")) only in a fresh migration, "
                    + "\(Quantity.count(difference.surplus)) only in the store that follows; keys "
                    + difference.keys.map(String.init).joined(separator: ", ")
            } + others.map { "\($0) differs." }
    }
}
