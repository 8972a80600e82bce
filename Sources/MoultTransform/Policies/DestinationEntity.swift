import MoultModel
import MoultObjects

/// One entity of the new version, with what a run needs to make objects of it.
final class DestinationEntity {
    let name: String
    /// Whether statements make objects of it too.
    let isMadeByStatements: Bool
    let columns: EntityColumns
    let inserter: RowInserter
    /// By position; nil for what is no stored attribute.
    let attributes: [AttributeDescription?]
    /// The type of each stored attribute, and whether it must have a value.
    let types: [(type: AttributeType, isRequired: Bool)?]
    /// The to-one at the other end, for an unordered to-many whose members' rows hold it; by position.
    let backwardToOnes: [String?]
    /// The default values of a new object, for properties without a value.
    private(set) lazy var defaults = InstancePlan(defaultsOf: self)

    init(_ name: String, in store: ObjectStore, isMadeByStatements: Bool) throws {
        self.name = name
        self.isMadeByStatements = isMadeByStatements
        columns = try store.columns(of: name)
        let columns = columns
        inserter = try store.newInserter(name)
        let positions = columns.shape.properties.indices
        attributes = positions.map { position in
            columns.attribute(at: position).flatMap { $0.description.derivation == nil ? $0.description : nil }
        }
        types = attributes.map { $0.map { ($0.type, !$0.isOptional) } }
        backwardToOnes = positions.map { position in
            guard case .relationship(let relationship, _) = columns.shape.properties[position], !relationship.isOrdered
            else { return nil }
            return columns.inverseToOne(of: position)?.name
        }
    }

    /// Whether an attribute must have a value.
    func isRequired(_ position: Int) -> Bool { types[position]?.isRequired == true }
}
