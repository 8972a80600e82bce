import Moult
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// One file or table of an export: the objects of an entity without its sub-entities, or the pairs of a to-many
/// relationship.
package struct ExportPart: Sendable {
    /// The name of the entity, or `Entity_relationship`.
    package let name: String
    package let entity: String
    /// The name of the relationship; nil for a part with objects.
    package let relationship: String?
    package let columns: [Column]
    let sql: String
    /// The folder of the external data files.
    private let folder: String

    /// A column with its source and its declaration in a database.
    package struct Column: Sendable {
        package let name: String
        let source: EntityContents.Source
        /// The declared type, such as `INTEGER`.
        let declaration: String
        /// The part that the column refers to, if there is exactly one.
        let reference: String?
        /// Whether the values are lists of keys, as JSON.
        var isList = false

        /// Whether a value is exported as it is stored.
        var isPlain: Bool {
            switch source {
            case .key, .toOne, .raw: true
            case .entity, .toOneEntity, .attribute(_, .date, _), .attribute(_, .uuid, _), .attribute(_, .binary, _),
                .attribute(_, .transformable, _):
                false
            case .attribute(_, _, let isExternal): !isExternal
            }
        }
    }

    init(
        _ entity: EntityContents, columns: [EntityContents.Column], keys: String?, name: String, _ folder: String,
        order: String = "Z_PK", isWhole: Bool
    ) {
        self.name = name
        self.entity = entity.name
        self.folder = folder
        relationship = nil
        self.columns = columns.map { Column($0, isWhole: isWhole) }
        let sources = columns.map { $0.list?.keys(ofRowIn: entity.table) ?? $0.source.column.quotedName }
        var conditions = [entity.restriction].compactMap(\.self)
        if let keys { conditions.append("Z_PK IN (\(keys))") }
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        sql =
            "SELECT \(sources.isEmpty ? "NULL" : sources.joined(separator: ", ")) FROM \(entity.table.quotedName)"
            + "\(condition) ORDER BY \(order)"
    }

    init(_ join: JoinContents, keys: String?, name: String, isWhole: Bool) {
        self.name = name
        entity = join.entity
        relationship = join.relationship
        folder = ""
        let references = isWhole ? join.references : [nil, nil]
        let sources = [join.ownColumn, join.otherColumn] + (join.orderColumn.map { [$0] } ?? [])
        columns = zip(join.columns, sources).enumerated().map { place, pair in
            Column(
                name: pair.0, source: .raw(pair.1), declaration: "INTEGER",
                reference: place < references.count ? references[place] : nil)
        }
        let own = join.ownColumn.quotedName
        let condition = keys.map { "\(own) IN (\($0))" } ?? "\(own) IS NOT NULL"
        let order = [own] + (join.orderColumn.map { [$0.quotedName] } ?? []) + [join.otherColumn.quotedName]
        sql =
            "SELECT \(sources.map(\.quotedName).joined(separator: ", ")) FROM \(join.table.quotedName) WHERE \(condition) "
            + "ORDER BY \(order.joined(separator: ", "))"
    }

    /// Returns the values of a row: dates as ISO 8601, UUIDs as text, external data as paths, and readable bytes as the
    /// text of their document. A value of another type than the attribute's is returned as it is stored.
    func row(of statement: Statement) -> [SQLiteValue] {
        columns.indices.map { value(of: statement.cell($0), in: columns[$0]) }
    }

    /// Returns one value of a row.
    func value(of cell: SQLiteCell, in column: Column) -> SQLiteValue {
        switch column.source {
        case .key, .toOne: return cell.copy
        case .raw: return cell.copy.readable(usual: nil)
        case .entity(let names), .toOneEntity(_, let names):
            return cell.isNull ? .null : Int(exactly: cell.integer).flatMap { names[$0] }.map { .text($0) } ?? .null
        case .attribute(_, .date, _):
            guard [.integer, .real].contains(cell.storageClass) else { return cell.copy }
            return DateText.text(sinceReferenceDate: cell.real).map { .text($0) } ?? cell.copy
        case .attribute(_, .uuid, _):
            guard case .blob(let bytes) = cell.copy, bytes.count == 16 else { return cell.copy }
            return AttributeValue.uuid(bytes).document.string.map { .text($0) } ?? .blob(bytes)
        case .attribute(_, let type, let isExternal):
            guard isExternal, case .blob(let bytes) = cell.copy else {
                return type.usualForm.map { cell.copy.readable(usual: $0) } ?? cell.copy
            }
            switch ExternalStorage.Cell(bytes) {
            case .inline(let value): return SQLiteValue.blob(value).readable(usual: type.usualForm)
            case .file(let name): return .text("\(folder)/\(name)")
            case nil: return .blob(bytes)
            }
        }
    }

    /// Returns the value that a blob encodes, with its nesting; nil for any other value, and for a blob that cannot be
    /// read.
    func document(of cell: SQLiteCell, in column: Column) -> JSONValue? {
        guard cell.storageClass == .blob, case .attribute(_, let type, let isExternal) = column.source,
            let usual = type.usualForm
        else { return nil }
        guard isExternal else { return ReadableData.document(of: cell.ownBytes.map { $0 }, usual: usual) }
        guard case .inline(let bytes)? = ExternalStorage.Cell(Array(cell.ownBytes)) else { return nil }
        return ReadableData.document(of: bytes, usual: usual)
    }
}

extension ExportPart.Column {
    fileprivate init(_ column: EntityContents.Column, isWhole: Bool) {
        name = column.name
        source = column.source
        isList = column.list != nil
        var reference: String?
        switch column.source {
        case .key: declaration = "INTEGER PRIMARY KEY"
        case .toOne(_, let destination):
            declaration = "INTEGER"
            reference = isWhole ? destination : nil
        case .entity, .toOneEntity: declaration = "TEXT"
        case .raw: declaration = ""
        case .attribute(_, let type, _):
            switch type {
            case .integer16, .integer32, .integer64, .boolean: declaration = "INTEGER"
            case .double, .float: declaration = "REAL"
            case .decimal: declaration = "NUMERIC"
            case .string, .uri, .date, .uuid: declaration = "TEXT"
            default: declaration = "BLOB"
            }
        }
        self.reference = reference
    }
}

extension JoinContents {
    /// Returns the expression for the keys of the destinations of a row, as a JSON array.
    fileprivate func keys(ofRowIn table: String) -> String {
        let order = [orderColumn, otherColumn].compactMap { $0 }.map { "pair.\($0.quotedName)" }
        return """
            (SELECT json_group_array(key) FROM (SELECT pair.\(otherColumn.quotedName) AS key \
            FROM \(self.table.quotedName) AS pair WHERE pair.\(ownColumn.quotedName) = \(table.quotedName).Z_PK \
            ORDER BY \(order.joined(separator: ", "))))
            """
    }
}

extension EntityContents.Source {
    /// The store's column to read the value from.
    fileprivate var column: String {
        switch self {
        case .key(let column), .attribute(let column, _, _), .toOne(let column, _), .toOneEntity(let column, _),
            .raw(let column):
            column
        case .entity: "Z_ENT"
        }
    }
}

extension AttributeType {
    /// The usual format of the type's values that are stored as bytes: JSON from SwiftData, an archive from a
    /// transformer. Nil for a type that is not stored as bytes.
    package var usualForm: ReadableData? {
        switch self {
        case .binary: .json
        case .transformable: .archive
        default: nil
        }
    }
}

extension SQLiteValue {
    /// Returns the text of the document that a blob contains; any other value, and a blob that cannot be read,
    /// unchanged.
    package func readable(usual: ReadableData?) -> SQLiteValue {
        guard case .blob(let bytes) = self, let document = ReadableData.document(of: bytes, usual: usual) else {
            return self
        }
        return .text(document.compact)
    }

    /// The value as JSON, with a blob in base64.
    package var document: JSONValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .text(let text): .string(text)
        case .blob(let bytes): .string(bytes.base64)
        }
    }
}
