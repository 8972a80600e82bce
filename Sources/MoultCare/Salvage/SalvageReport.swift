import Moult
import MoultBasics

/// The result of salvaging a damaged store: the recovered rows, and the losses.
public struct SalvageReport: Sendable, Hashable {
    /// One table of the new store.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public package(set) var name: String
        /// Rows that the new store has.
        public package(set) var rows: Int64
        /// Keys of rows with unreadable values, which are missing; both ends of a range included.
        public package(set) var partialKeys: [ClosedRange<Int64>]
        /// Keys of rows that could not be read; both ends included. A key in a range does not prove that there was a
        /// row, unless an index lists every row.
        public package(set) var lostKeys: [ClosedRange<Int64>]
        /// The number of rows by an index that lists them all; nil if no such index can be read.
        package var listed: Int64?
        /// The highest key ever assigned, by the store's own counter.
        package var counter: Int64?
        /// The first cause of a loss.
        package var cause: String?
        /// Whether the damaged store has no such table.
        package var isMissing: Bool
    }

    /// Rows or values that were read but have no place in the new store.
    package struct Unplaced: Sendable, Hashable {
        package enum Reason: String, Sendable {
            /// The version has no such table, entity or column.
            case table, entity, column
            /// The row has the number of an entity of another table, or of no known entity.
            case number
            /// The table lacks a column that says which object a row is.
            case key
            /// The values of the row must be unique, and another row has them.
            case rule
            /// The row's page fits no table or several, or its key was found twice.
            case page
        }

        package var table: String
        package var reason: Reason
        /// The column, the entity, or the number of an unknown entity.
        package var detail: String?
        /// The number of rows, or of rows with a value in the column.
        package var rows: Int64
    }

    /// Values of the new store whose file of external data is gone, is unreadable or is not a regular file.
    public struct MissingData: Sendable, Hashable {
        /// The entity that has the property.
        public package(set) var entity: String
        /// The attribute.
        public package(set) var property: String
        /// The keys of the objects; both ends of a range included.
        public package(set) var keys: [ClosedRange<Int64>]

        package var objects: Int64 { keys.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 } }
    }

    /// The evidence that the damaged store is of the version.
    package enum Evidence: Sendable, Hashable {
        /// The caller named it.
        case named
        case metadata
        /// The model inside the damaged store.
        case model
        /// Nothing in the store: the version places more rows than any other.
        case rows([Trial])
    }

    /// A version that was tried.
    package struct Trial: Sendable, Hashable {
        package var version: String
        /// The number of rows that its tables accept.
        package var rows: Int64
    }

    /// The pages of the damaged store, counted by their state.
    package struct Pages: Sendable, Hashable {
        package var count: Int
        package var size: Int
        /// Pages of a table, an index or a long value that were read.
        package var read: Int
        package var free: Int
        /// Pages that a table or an index refers to but that cannot be read.
        package var damaged: [ClosedRange<Int64>]
        /// Pages that nothing refers to.
        package var unexplained: Int
        /// Pages that the store should have but the file lacks.
        package var missing: Int
        /// The number of page reads, repeated ones included.
        package var reads: Int
    }

    /// The path of the new store.
    public package(set) var store: String
    /// The name of the version whose tables the new store has.
    public package(set) var version: String
    /// The version as a noun of a sentence; nil for its name.
    package var title: String?
    package var evidence: Evidence = .named
    /// Whether the damaged store says which version it is of, and the model does not have that version.
    package var isOfOtherVersion = false
    /// The tables of the new store.
    public package(set) var tables: [Table]
    package var pages: Pages
    /// The losses of the store as a whole, such as its metadata, in sentences.
    public package(set) var notes: [String]
    /// Further remarks about the store, in sentences.
    public package(set) var remarks: [String] = []
    package var unplaced: [Unplaced] = []
    /// The database with rows and columns that have no place in the version; nil if there are none.
    public package(set) var aside: String?
    /// Values whose files are missing, by property.
    public package(set) var missingData: [MissingData] = []
    /// Files of external data that were copied.
    package var externalFiles: Int = 0

    /// The number of rows in the new store.
    public var rows: Int64 { tables.reduce(0) { $0 + $1.rows } }
    /// Whether every row and value was read.
    public var isEverythingRead: Bool {
        notes.isEmpty && missingData.isEmpty
            && tables.allSatisfy { $0.lostKeys.isEmpty && $0.partialKeys.isEmpty && !$0.isMissing }
            && !unplaced.contains { $0.reason == .page }
    }
    /// Whether everything was read and has a place in the new store.
    public var isWhole: Bool { isEverythingRead && unplaced.isEmpty }

    /// A remark about the rows that were read, if pages or rows are damaged; otherwise empty.
    package var doubt: [String] {
        let isDamaged =
            !pages.damaged.isEmpty || tables.contains { !$0.lostKeys.isEmpty || !$0.partialKeys.isEmpty }
        guard isDamaged else { return [] }
        return [
            "Rows that were read may have wrong values, too: a changed byte inside a value cannot be detected. Compare "
                + "them with a backup or an export."
        ]
    }

    /// The evidence for the new store's version, in a sentence; nil if the caller named it.
    public var reason: String? {
        switch evidence {
        case .named: return nil
        case .metadata: return "The store is of version \(version), by its metadata."
        case .model: return "The store is of \(title ?? "version \(version)"), by the model inside it."
        case .rows(let trials):
            let unknown =
                isOfOtherVersion
                ? "The damaged store is of a version that the model does not have."
                : "The damaged store does not say of which version it is."
            guard !trials.isEmpty else { return "\(unknown) The model has only the version \(version)." }
            let others = trials.filter { $0.version != version }.map { "\($0.version): \(Quantity.count($0.rows))" }
            let most = trials.first { $0.version == version }?.rows ?? rows
            return "\(unknown) Of the \(Quantity.count(trials.count)) "
                + "versions of the model, \(version) places the most rows: \(Quantity.count(most)) "
                + "(\(others.joined(separator: ", ")))."
        }
    }

    // MARK: - JSON and text

    package var document: JSONValue {
        [
            "format": 1, "store": .string(store), "version": .string(version), "versionBy": .string(evidence.word),
            "tried": .array(evidence.trials.map { ["version": .string($0.version), "rows": .integer($0.rows)] }),
            "whole": .bool(isWhole),
            "read": .bool(isEverythingRead), "rows": .integer(rows), "externalFiles": JSONValue(externalFiles),
            "notes": JSONValue(notes), "remarks": JSONValue(remarks), "tables": .array(tables.map(\.document)),
            "unplaced": .array(
                unplaced.map { one in
                    [
                        "table": .string(one.table), "reason": .string(one.reason.rawValue),
                        "detail": JSONValue(one.detail), "rows": .integer(one.rows),
                    ]
                }),
            "missingData": .array(missingData.map(\.document)),
            "aside": JSONValue(aside),
            "pages": [
                "count": JSONValue(pages.count), "size": JSONValue(pages.size), "read": JSONValue(pages.read),
                "free": JSONValue(pages.free), "damaged": pages.damaged.document,
                "unexplained": JSONValue(pages.unexplained), "missing": JSONValue(pages.missing),
            ],
        ]
    }

    /// - Parameter model: the model to name in the next command; nil for the one inside the new store.
    package func lines(model: String?, style: TextStyle) -> [String] {
        let model: [Remedy.Setting] = model.map { [.model($0)] } ?? []
        var table = TextTable([
            .left("table"), .right("rows"), .right("by index"), .right("in part"), .left("keys that could not be read"),
        ])
        for one in tables {
            let lost = one.isMissing ? "no such table" : one.lostKeys.text
            table.add(one.name, "\(one.rows)", one.listed.map { "\($0)" } ?? "", "\(one.partialRows)", lost)
        }
        let verdict =
            switch (isEverythingRead, unplaced.isEmpty) {
            case (true, true): style.green("Everything was read")
            case (true, false): style.yellow("Everything was read, and not everything has a place in this version")
            case (false, _): style.yellow("Not everything could be read")
            }
        let damaged = pages.damaged.isEmpty ? "" : ", damaged: \(pages.damaged.text)"
        let missing = pages.missing == 0 ? "" : ", missing: \(pages.missing)"
        let unused = pages.unexplained == 0 ? "" : ", \(Quantity.count(pages.unexplained)) that nothing refers to"
        return (reason.map { [$0.printable] } ?? []) + table.lines(style: style) + notes + missingData.map(\.sentence)
            + remarks + unplaced.map(\.sentence)
            + [
                "\(Quantity.count(pages.count, "page")): \(Quantity.count(pages.read)) read, "
                    + "\(Quantity.count(pages.free)) free\(unused)\(damaged)\(missing)."
            ]
            + (aside.map { ["What has no place is kept in \($0.printable)."] } ?? []) + [
                "\(verdict): \(Quantity.count(rows, "row")) of \((title ?? "version \(version)").printable) in "
                    + "\(store.printable). The damaged store is unchanged.",
                String(advice: "Next: \(.repair, with: [.store(store)] + model + [.dryRun])"),
            ]
    }
}

extension SalvageReport.Evidence {
    fileprivate var word: String {
        switch self {
        case .named: "name"
        case .metadata: "metadata"
        case .model: "model"
        case .rows: "rows"
        }
    }

    fileprivate var trials: [SalvageReport.Trial] { if case .rows(let trials) = self { trials } else { [] } }
}

extension SalvageReport.Table {
    /// The number of rows whose values are partly lost. Each key was read, so counting keys counts rows.
    fileprivate var partialRows: Int64 { partialKeys.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 } }

    fileprivate var document: JSONValue {
        [
            "name": .string(name), "rows": .integer(rows), "partial": .integer(partialRows),
            "partialKeys": partialKeys.document, "lost": lostKeys.document,
            "listed": listed.map(JSONValue.integer) ?? .null, "counter": counter.map(JSONValue.integer) ?? .null,
            "cause": JSONValue(cause), "missing": .bool(isMissing),
        ]
    }
}

extension SalvageReport.MissingData {
    fileprivate var document: JSONValue {
        [
            "entity": .string(entity), "property": .string(property), "objects": .integer(objects),
            "keys": keys.document,
        ]
    }

    fileprivate var sentence: String {
        let objects = Quantity.count(objects, "object keeps", plural: "objects keep")
        return "\(objects) \("\(entity).\(property)".printable) in a file that is missing or cannot be read: "
            + "keys \(keys.text)."
    }
}

extension SalvageReport.Unplaced {
    fileprivate var sentence: String {
        let rows = Quantity.count(rows, "row")
        let (table, detail) = (table.printable, (detail ?? "").printable)
        return switch reason {
        case .table: "\(table): the version has no such table; \(rows)."
        case .entity: "\(table): the version has no entity \(detail); \(rows)."
        case .column: "\(table): the version has no column \(detail); \(rows) with a value."
        case .number where detail.hasPrefix("Z_ENT "): "\(table): \(detail) is the number of no known entity; \(rows)."
        case .number: "\(table): objects of \(detail) are in another table; \(rows)."
        case .key: "\(table): the table has no column \(detail); \(rows)."
        case .rule: "\(table): \(rows) with unique values that another row has already."
        case .page: "\(rows) cannot be assigned to a table; moult_orphans has the reason of each."
        }
    }
}

extension [ClosedRange<Int64>] {
    fileprivate var document: JSONValue { .array(map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }) }

    fileprivate var text: String {
        let shown = prefix(5).map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)"
        }
        return shown.joined(separator: ", ") + (count > 5 ? ", … (\(count) ranges)" : "")
    }
}
