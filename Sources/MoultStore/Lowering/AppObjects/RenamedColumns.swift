import MoultModel
import MoultPlan

/// The columns that have another name in the new version, because their attribute or to-one relationship was renamed:
/// for what SQLite says of an app's own objects, and for the columns that an app computes from them.
struct RenamedColumns {
    /// By the old name in capitals. A name that the new version still has is left out.
    private var names: [String: String] = [:]
    /// By table of the source, what each of its columns becomes, by its old name in capitals.
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

    /// Returns the new name of a column; nil for one that is there still, or is gone.
    func name(of column: String) -> String? { names[column.uppercased()] }

    /// The words of a definition in a table of the source with the new names of the columns that they name; nil where none
    /// of them has one, or several.
    func renaming(_ text: String, in table: String) -> String? {
        let names = (becoming[table] ?? [:]).compactMapValues { $0.count == 1 ? $0.first : nil }
        var (result, end) = ("", text.startIndex)
        // The first word is the name of what is defined.
        for token in text.sqlTokens.dropFirst() where !token.isLiteral {
            guard let new = names[token.name.uppercased()], new.uppercased() != token.name.uppercased() else {
                continue
            }
            result += text[end..<token.range.lowerBound] + new.quotedName
            end = token.range.upperBound
        }
        return result.isEmpty ? nil : result + text[end...]
    }

    /// The loss with the new name of the column that SQLite has not found, such as `T.ZTEXT`.
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
