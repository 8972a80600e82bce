import MoultModel
import MoultPlan

/// The columns that have another name in the new version because their attribute or to-one relationship was renamed.
/// They are used to explain SQLite's errors about an app's own objects, and to rename columns in an app's generated
/// columns.
struct RenamedColumns {
    /// The new names, by the old name in capitals. Names that still exist in the new version are omitted.
    private var names: [String: String] = [:]
    /// The new names of each column of a source table, by table and by the old name in capitals.
    private var becoming: [String: [String: Set<String>]] = [:]

    init() {}

    init(_ mapping: ResolvedMapping, from source: StoreLayout, to destination: StoreLayout) {
        for entity in mapping.entityMappings {
            guard let old = entity.sourceEntityName.flatMap(source.model.entity),
                let new = entity.destinationEntityName.flatMap(destination.model.entity)
            else { continue }
            let table = source.table(for: old)?.name ?? ""
            for case (let name, .attribute(let former, _)) in entity.attributes {
                add(
                    source.column(forAttribute: former, in: old), destination.column(forAttribute: name, in: new),
                    of: table)
            }
            for case (let name, .relationship(let former)) in entity.relationships {
                add(
                    source.storage(ofRelationship: former, in: old)?.ownColumn,
                    destination.storage(ofRelationship: name, in: new)?.ownColumn, of: table)
            }
        }
        for column in destination.tables.flatMap(\.columns) { names[column.name.uppercased()] = nil }
    }

    private mutating func add(_ old: String?, _ new: String?, of table: String) {
        guard let old, let new else { return }
        becoming[table, default: [:]][old.uppercased(), default: []].insert(new)
        guard old != new else { return }
        names[old.uppercased()] = new
    }

    /// Returns the new name of a column; nil if it still exists or was removed.
    func name(of column: String) -> String? { names[column.uppercased()] }

    /// Returns the text of a definition in a source table with the new names of the columns it refers to; nil if no
    /// column has a new name, or only ambiguous ones.
    func renaming(_ text: String, in table: String) -> String? {
        let names = (becoming[table] ?? [:]).compactMapValues { $0.count == 1 ? $0.first : nil }
        var (result, end) = ("", text.startIndex)
        // The first word is the name of the defined column itself.
        for token in text.sqlTokens.dropFirst() where !token.isLiteral {
            guard let new = names[token.name.uppercased()], new.uppercased() != token.name.uppercased() else {
                continue
            }
            result += text[end..<token.range.lowerBound] + new.quotedName
            end = token.range.upperBound
        }
        return result.isEmpty ? nil : result + text[end...]
    }

    /// Adds the new name of the column that SQLite did not find, such as `T.ZTEXT`, to a loss.
    func naming(_ loss: MigrationLoss) -> MigrationLoss {
        guard let detail = loss.detail, detail.hasPrefix("no such column: "),
            let column = detail.split(whereSeparator: { ". \"".contains($0) }).last,
            let new = names[column.uppercased()]
        else { return loss }
        var loss = loss
        loss.detail = "\(detail), which is renamed to \(new)"
        return loss
    }
}

extension RelationshipStorage {
    fileprivate var ownColumn: String? { if case .foreignKey(_, let column, _) = self { column } else { nil } }
}
