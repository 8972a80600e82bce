import MoultModel
import MoultStore

/// A property that a bulk insert or update sets.
struct BulkTarget {
    let name: String
    let isRequired: Bool
    private let place: String
    /// Nil for a to-one relationship.
    private let attribute: AttributeDescription?

    /// - Throws: `usage` for a property that is neither a stored attribute nor a to-one relationship.
    init(_ name: String, of entity: EntityColumns) throws {
        self.name = name
        let entityName = entity.shape.entity.name
        place = "\(entityName).\(name)"
        guard let position = entity.shape.position(of: name) else {
            let names = entity.shape.properties.map(\.name).joined(separator: ", ")
            throw MigrationError(
                .usage, "\(entityName) has no property \(name).", place: place, remedy: "Use one of: \(names).")
        }
        switch entity.places[position] {
        case .attribute(_, let attribute) where attribute.derivation == nil:
            self.attribute = attribute
            isRequired = !attribute.isOptional
        case .toOne(_, _, let relationship):
            attribute = nil
            isRequired = !relationship.description.isOptional
        case .attribute, .none, .toMany:
            throw MigrationError(
                .usage, "\(place) is derived, transient or to many: it cannot be set in bulk.", place: place,
                remedy: "Set a stored attribute or a to-one relationship.")
        }
    }

    /// - Parameter object: what it is a value of, for errors.
    func value(_ value: ExpressionValue, of object: String) throws -> ObjectValue {
        if value.isNull {
            guard !isRequired else { throw missing(in: object) }
            return attribute == nil ? .toOne(nil) : .attribute(nil)
        }
        if let attribute {
            if let converted = AttributeValue(value, as: attribute.type) { return .attribute(converted) }
        } else if case .object(let id) = value {
            return .toOne(id)
        }
        throw MigrationError(
            .dataConflict, "\(place) cannot hold the value that was given.", place: "\(place), \(object)",
            remedy: "Give a value of the property's own type.")
    }

    func missing(in object: String) -> MigrationError {
        MigrationError(
            .dataConflict, "\(place) needs a value.", place: "\(place), \(object)",
            remedy: "Give it one, or make the property optional.")
    }
}

extension AttributeValue {
    /// The value as an attribute of the type has it; nil for nil and for what cannot become one without loss.
    init?(_ value: ExpressionValue, as type: AttributeType) {
        switch (type, value) {
        case (.integer16, _), (.integer32, _), (.integer64, _):
            guard let whole = value.whole else { return nil }
            self = .integer(whole)
        case (.boolean, .boolean(let flag)): self = .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: self = .boolean(number == 1)
        case (.double, _), (.float, _):
            guard let number = value.number else { return nil }
            self = .double(number.double)
        case (.decimal, .decimal(let digits)): self = .decimal(digits)
        case (.decimal, .integer(let number)): self = .decimal(String(number))
        case (.decimal, .real(let number)) where number.isFinite: self = .decimal("\(number)")
        case (.date, _):
            guard let seconds = value.number else { return nil }
            self = .date(seconds.double)
        case (.string, .string(let text)): self = .string(text)
        case (.uri, .uri(let text)), (.uri, .string(let text)): self = .uri(text)
        case (.uuid, .uuid(let bytes)): self = .uuid(bytes)
        case (.uuid, .data(let bytes)) where bytes.count == 16: self = .uuid(bytes)
        case (.binary, .data(let bytes)): self = .binary(bytes)
        case (.transformable, .data(let bytes)): self = .transformable(bytes)
        default: return nil
        }
    }
}

extension ExpressionValue {
    /// The integer that a number is, if it is one.
    fileprivate var whole: Int64? {
        switch number {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number)
        case nil: nil
        }
    }
}
