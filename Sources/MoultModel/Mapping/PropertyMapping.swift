/// A mapping of one destination property, with the source of its value (`NSPropertyMapping`).
public struct PropertyMapping: Sendable, Hashable {
    /// The destination's attribute or relationship.
    public var name: String
    /// Gives the value for one source object, which it calls `$source`. Nil leaves an attribute its default value and
    /// a relationship empty, unless its inverse fills it.
    public var valueExpression: Expression?
    /// The closures that the expression calls, next to those of the entity's policy.
    public var transforms: [ValueTransform] = []
    /// Notes of whoever wrote the mapping, by key; the migration does not read them.
    public var userInfo: [String: String]

    /// A mapping of a destination property to an expression over the source object, or to its default where it is nil.
    public init(_ name: String, _ valueExpression: Expression? = nil, userInfo: [String: String] = [:]) {
        self.name = name
        self.valueExpression = valueExpression
        self.userInfo = userInfo
    }

    /// - Parameters:
    ///   - sources: attributes of the source, or key paths over to-one relationships; the closure's arguments.
    ///   - transform: gives the value of the destination's attribute.
    public init(_ name: String, from sources: [String], _ transform: ValueTransform) {
        self.init(
            name, .message(transform.name, to: .variable("entityPolicy"), sources.map { .source($0) }))
        transforms = [transform]
    }

    /// - Parameter format: the expression in Core Data's format language, such as `$source.name`.
    /// - Throws: `modelInvalid` if it is none; the place is the property with the number of the character at fault.
    public init(_ name: String, _ format: String) throws(MigrationError) {
        do {
            self.init(name, try Expression(parsing: format))
        } catch {
            var error = error
            error.place = "\(name): \(error.place)"
            throw error
        }
    }
}
