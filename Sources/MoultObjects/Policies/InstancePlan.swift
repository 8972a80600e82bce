import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// The values of a new object's properties where the policy sets none: the mapping's expressions over the current
/// source row, with every name resolved once.
final class InstancePlan {
    private let steps: [Step]
    /// The steps that copy a column of the source row unchanged; most do.
    private let copies: [Copy]
    /// The other steps.
    private let written: [Step]
    /// The required attributes that get no value from the plan.
    private let missing: [Int]
    /// The attributes copied from a column that may name a file.
    let files: [Int]
    private let reader: InstanceReader?
    private let row: Statement?
    /// The index of each property's step; nil for none.
    private let stepOfPosition: [Int?]

    fileprivate struct Copy {
        let position: Int
        let column: Int
        let parameter: Int
        let isChecked: Bool
    }

    struct Step {
        let position: Int
        let value: Value
        /// Whether a missing value is an error, because the attribute is required.
        var isChecked = false

        enum Value {
            case constant(AttributeValue)
            /// A column of the source row, unchanged.
            case copy(column: Int, ifNil: AttributeValue?)
            /// An attribute of the source with another storage format.
            case decoded(sourcePosition: Int, type: AttributeType, ifNil: AttributeValue?)
            case expression(Int, AttributeType)
            case call(ValueTransform, [Int], AttributeType)
            case toOne(ToOne)
        }

        /// A to-one relationship whose destination keeps its key.
        struct ToOne {
            let sourcePosition: Int
            let key: Int
            let order: Int?
            /// The destination entity of each source entity, by the source's name, with its number.
            let entities: [String: (name: String, number: Int64)]
        }
    }

    private init(_ steps: [Step], missing: [Int], to entity: DestinationEntity, from reader: InstanceReader?) {
        (self.steps, self.missing, self.reader) = (steps, missing, reader)
        row = reader?.row
        var stepOfPosition = [Int?](repeating: nil, count: entity.attributes.count)
        var copies: [Copy] = []
        var written: [Step] = []
        for (index, step) in steps.enumerated() {
            stepOfPosition[step.position] = index
            if let copy = Copy(step, entity.inserter) { copies.append(copy) } else { written.append(step) }
        }
        (self.stepOfPosition, self.copies, self.written) = (stepOfPosition, copies, written)
        files = steps.compactMap { step in
            guard case .copy = step.value else { return nil }
            return entity.attributes[step.position]?.allowsExternalBinaryDataStorage == true ? step.position : nil
        }
    }

    /// Creates a plan with only the default values of an entity's attributes.
    convenience init(defaultsOf entity: DestinationEntity) {
        var steps: [Step] = []
        var missing: [Int] = []
        for (position, attribute) in entity.attributes.enumerated() {
            guard let attribute else { continue }
            if let value = attribute.defaultValue {
                steps.append(Step(position: position, value: .constant(value)))
            } else if !attribute.isOptional {
                missing.append(position)
            }
        }
        self.init(steps, missing: missing, to: entity, from: nil)
    }

    /// - Parameters:
    ///   - expressions: the places of attribute expressions among the reader's.
    ///   - toOnes: the relationships that are carried over with their keys.
    convenience init(
        _ mapping: ResolvedEntityMapping, to entity: DestinationEntity, from reader: InstanceReader,
        expressions: [String: MappedExpression], toOnes: [Int: Step.ToOne]
    ) {
        var steps: [Step] = []
        var missing: [Int] = []
        for (position, attribute) in entity.attributes.enumerated() {
            guard let attribute else { continue }
            let name = entity.columns.shape.properties[position].name
            if let value = Self.value(of: name, attribute, mapping, reader, expressions) {
                let isConstant = if case .constant = value { true } else { false }
                steps.append(Step(position: position, value: value, isChecked: !attribute.isOptional && !isConstant))
            } else if !attribute.isOptional {
                missing.append(position)
            }
        }
        steps += toOnes.map { Step(position: $0, value: .toOne($1)) }
        self.init(steps, missing: missing, to: entity, from: reader)
    }

    /// Returns nil for an attribute that stays empty.
    private static func value(
        of name: String, _ attribute: AttributeDescription, _ mapping: ResolvedEntityMapping,
        _ reader: InstanceReader, _ expressions: [String: MappedExpression]
    ) -> Step.Value? {
        switch mapping.attributes[name] {
        case .constant(let value?): return .constant(value)
        case .constant(nil), nil: return nil
        case .expression:
            switch expressions[name] {
            case .value(let index)?: return .expression(index, attribute.type)
            case .call(let transform, let arguments)?: return .call(transform, arguments, attribute.type)
            case nil: return nil
            }
        case .attribute(let from, let substitute):
            guard let position = reader.entity.shape.position(of: from),
                let old = reader.entity.attribute(at: position)?.description,
                let column = reader.column(of: position)
            else { return substitute.map { .constant($0) } }
            let isSame =
                old.type == attribute.type
                && old.allowsExternalBinaryDataStorage == attribute.allowsExternalBinaryDataStorage
            return isSame
                ? .copy(column: column, ifNil: substitute)
                : .decoded(sourcePosition: position, type: attribute.type, ifNil: substitute)
        }
    }
}

/// The source of an expression's value.
enum MappedExpression {
    /// The expression at this index of the reader's expressions.
    case value(Int)
    /// A closure, with the indexes of its arguments among the reader's expressions.
    case call(ValueTransform, [Int])
}

// MARK: - Values

extension InstancePlan {
    /// Writes each property that the object has not set itself to the row.
    func write(_ object: DestinationObject, _ inserter: RowInserter) throws {
        try copy(for: object, inserter)
        for step in written where !object.isChanged(step.position) {
            switch step.value {
            case .constant(let value): try inserter.set(value, at: step.position)
            case .copy(let column, let substitute):
                guard let reader else { continue }
                if let substitute, reader.row.isNull(column) {
                    try inserter.set(substitute, at: step.position)
                } else if let parameter = inserter.parameter(of: step.position) {
                    try inserter.row.bind(lending: column, of: reader.row, at: parameter)
                }
            case .toOne(let toOne):
                guard let destination = toOne.destination(reader) else { continue }
                let place = toOne.order.flatMap { order in
                    reader.flatMap { $0.row.isNull(order) ? nil : $0.row.integer(order) }
                }
                try inserter.set(key: destination.key, number: destination.number, place: place, at: step.position)
            case .decoded, .expression, .call:
                if let value = try value(of: step) {
                    try inserter.set(value, at: step.position)
                } else if step.isChecked {
                    throw object.lacking(step.position)
                }
            }
        }
        for position in missing where !object.isChanged(position) { throw object.lacking(position) }
    }

    private func copy(for object: DestinationObject, _ inserter: RowInserter) throws {
        guard let row else { return }
        let new = inserter.row
        for copy in copies where !object.isChanged(copy.position) {
            let isThere = try new.bind(lending: copy.column, of: row, at: copy.parameter)
            if copy.isChecked, !isThere { throw object.lacking(copy.position) }
        }
    }

    /// Returns the value that an attribute would have.
    func value(at position: Int) throws -> AttributeValue? {
        try stepOfPosition[position].flatMap { try value(of: steps[$0]) }
    }

    /// Returns the destination that a to-one relationship would have.
    func reference(at position: Int) throws -> ObjectReference? {
        guard let step = stepOfPosition[position], case .toOne(let toOne) = steps[step].value else { return nil }
        return toOne.destination(reader).map { ObjectReference(entityName: $0.name, primaryKey: $0.key) }
    }

    private func value(of step: Step) throws -> AttributeValue? {
        guard let reader else {
            if case .constant(let value) = step.value { return value }
            return nil
        }
        switch step.value {
        case .constant(let value): return value
        case .copy(let column, let substitute):
            guard let position = reader.position(ofColumn: column) else { return substitute }
            return try reader.attribute(position) ?? substitute
        case .decoded(let position, let type, let substitute):
            return try reader.attribute(position)?.fitted(to: type) ?? substitute
        case .expression(let index, let type):
            // Convert as statements do. A value that cannot be converted fails when it is written, with its object.
            let value = try reader.value(ofExpression: index)
            return try value.converted(to: type) ?? AttributeValue(value, for: type.isNumber ? .undefined : type)
        case .call(let transform, let arguments, let type):
            let values = try arguments.map { try AttributeValue(reader.value(ofExpression: $0), for: .undefined) }
            return try transform.body(values)?.fitted(to: type)
        case .toOne: return nil
        }
    }
}

extension InstancePlan.Copy {
    /// Returns nil for a step that is more than a copy.
    fileprivate init?(_ step: InstancePlan.Step, _ inserter: RowInserter) {
        guard case .copy(let column, nil) = step.value, let parameter = inserter.parameter(of: step.position) else {
            return nil
        }
        self.init(position: step.position, column: column, parameter: parameter, isChecked: step.isChecked)
    }
}

extension InstancePlan.Step.ToOne {
    fileprivate func destination(_ reader: InstanceReader?) -> (key: Int64, name: String, number: Int64)? {
        guard case .toOne(let reference?)? = reader?.value(sourcePosition),
            let entity = entities[reference.entityName]
        else { return nil }
        return (reference.primaryKey, entity.name, entity.number)
    }
}

extension InstanceReader {
    /// - Throws: `storeCorrupted` for a stored value that does not fit the declared type.
    fileprivate func attribute(_ position: Int) throws -> AttributeValue? {
        switch value(position) {
        case .attribute(let value)?: return value
        case .undecodable(let value)?:
            throw MigrationError(
                .storeCorrupted, "A value cannot be read: \(value.reason).",
                place: entity.shape.properties[position].name, remedy: "Drop the object, or quarantine it.")
        case .toOne?, .toMany?, nil: return nil
        }
    }
}

extension AttributeValue {
    /// Creates the value of an attribute of that type from the result of an expression; nil for null.
    fileprivate init?(_ value: ExpressionValue, for type: AttributeType) throws {
        let plain: AttributeValue
        switch value {
        case .null: return nil
        case .boolean(let flag): plain = .boolean(flag)
        case .integer(let number): plain = .integer(number)
        case .real(let number): plain = .double(number)
        case .decimal(let digits): plain = .decimal(digits)
        case .string(let text): plain = .string(text)
        case .date(let seconds): plain = .date(seconds)
        case .data(let bytes): plain = .binary(bytes)
        case .uuid(let bytes): plain = .uuid(bytes)
        case .uri(let text): plain = .uri(text)
        case .object, .collection:
            throw MigrationError(
                .dataConflict, "The expression of an attribute returned objects.",
                remedy: "Correct the value expression.")
        }
        self = plain.fitted(to: type)
    }
}

extension DestinationObject {
    func lacking(_ position: Int) -> MigrationError {
        let name = entity.columns.shape.properties[position].name
        return MigrationError(
            .dataConflict, "\(name) is required and has no value.", place: "\(entityName).\(name)",
            remedy: "Set it in the policy, or give the mapping an expression for it.")
    }
}
