import MoultModel
import MoultObjects

/// One entity of the new version, with what a run needs to make objects of it.
final class DestinationEntity {
    let name: String
    let columns: EntityColumns
    let inserter: InstanceInserter
    /// By position; nil for what is no stored attribute.
    let attributes: [AttributeDescription?]
    /// The to-one at the other end, for an unordered to-many whose members' rows hold it; by position.
    let backwardToOnes: [String?]
    /// What an object has that nobody gave a value.
    private(set) lazy var defaults = InstancePlan(defaultsOf: self)

    init(_ name: String, in store: ObjectStore) throws {
        self.name = name
        columns = try store.columns(of: name)
        let columns = columns
        inserter = try store.instanceInserter(name)
        let positions = columns.shape.properties.indices
        attributes = positions.map { position in
            columns.attribute(at: position).flatMap { $0.description.derivation == nil ? $0.description : nil }
        }
        backwardToOnes = positions.map { position in
            guard case .relationship(let relationship, _) = columns.shape.properties[position], !relationship.isOrdered
            else { return nil }
            return columns.inverseToOne(of: position)?.name
        }
    }

    /// The positions of attributes that must have a value.
    func isRequired(_ position: Int) -> Bool { attributes[position]?.isOptional == false }
}
