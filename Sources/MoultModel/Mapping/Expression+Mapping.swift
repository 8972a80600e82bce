/// The building blocks of the expressions of mapping models.
extension Expression {
    /// The selectors of the migration manager that give what became of source objects.
    public enum DestinationInstances: String, Sendable, CaseIterable {
        /// The objects that the mapping of that name made.
        case ofEntityMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
        /// The objects that any mapping made, of the source relationship of that name.
        case ofSourceRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    }

    /// `$source.path`: a value of the object that is migrated.
    public static func source(_ path: String) -> Expression { .keyPath(path, of: .variable("source")) }

    /// `FUNCTION($manager, "destinationInstancesFor…:sourceInstances:", "name", sourceInstances)`
    public static func destinationInstances(
        _ kind: DestinationInstances, named name: String, for sourceInstances: Expression
    ) -> Expression {
        .message(kind.rawValue, to: .variable("manager"), [.constant(.string(name)), sourceInstances])
    }

    /// The parts of a ``destinationInstances(_:named:for:)``; nil for any other expression.
    public var destinationInstances: (kind: DestinationInstances, name: String, sourceInstances: Expression)? {
        guard case .message(let selector, .variable("manager"), let arguments) = self, arguments.count == 2,
            let kind = DestinationInstances(rawValue: selector), case .constant(.string(let name)) = arguments[0]
        else { return nil }
        return (kind, name, arguments[1])
    }
}
