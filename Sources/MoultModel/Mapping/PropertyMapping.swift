/// Where the value of one destination property comes from (`NSPropertyMapping`).
package struct PropertyMapping: Sendable, Hashable {
    /// The destination's attribute or relationship.
    package var name: String
    /// Gives the value for one source object, which it calls `$source`. Nil leaves an attribute its default value and
    /// a relationship empty, unless its inverse fills it.
    package var valueExpression: Expression?
    package var userInfo: [String: String]

    package init(_ name: String, _ valueExpression: Expression? = nil, userInfo: [String: String] = [:]) {
        self.name = name
        self.valueExpression = valueExpression
        self.userInfo = userInfo
    }

    /// - Parameter format: the expression in Core Data's format language, such as `$source.name`.
    /// - Throws: `modelInvalid` where it is none; the place is the property with the number of the character at fault.
    package init(_ name: String, _ format: String) throws(MigrationError) {
        do {
            self.init(name, try Expression(parsing: format))
        } catch {
            var error = error
            error.place = "\(name): \(error.place)"
            throw error
        }
    }
}
