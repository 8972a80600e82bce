import MoultModel
import MoultPlan

/// The columns that have another name in the new version, because their attribute or to-one relationship was renamed:
/// for SQLite's "no such column", which knows nothing of a rename.
struct RenamedColumns {
    /// By the old name in capitals. A name that the new version still has is left out.
    private var names: [String: String] = [:]

    init(_ mapping: ResolvedMapping, from source: StoreLayout, to destination: StoreLayout) {
        for entity in mapping.entityMappings {
            guard let old = entity.sourceEntityName.flatMap(source.model.entity),
                let new = entity.destinationEntityName.flatMap(destination.model.entity)
            else { continue }
            for case (let name, .attribute(let former, _)) in entity.attributes {
                add(source.column(forAttribute: former, in: old), destination.column(forAttribute: name, in: new))
            }
            for case (let name, .relationship(let former)) in entity.relationships {
                add(
                    source.storage(ofRelationship: former, in: old)?.ownColumn,
                    destination.storage(ofRelationship: name, in: new)?.ownColumn)
            }
        }
        for column in destination.tables.flatMap(\.columns) { names[column.name.uppercased()] = nil }
    }

    private mutating func add(_ old: String?, _ new: String?) {
        guard let old, let new, old != new else { return }
        names[old.uppercased()] = new
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
