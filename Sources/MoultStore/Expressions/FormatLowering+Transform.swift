import MoultModel
import MoultSQLite

extension FormatLowering {
    /// `FUNCTION($entityPolicy, "fullName", $source.first, $source.last)`
    func transform(_ selector: String, _ arguments: [Expression], in expression: Expression) throws -> Lowered {
        guard let transforms, let transform = transforms.available[selector] else {
            throw refuse(expression.format, "the mapping has no closure of that name")
        }
        var list: SQLText = ""
        var described: [TransformFunction.Argument] = []
        for argument in arguments {
            let value = try transformArgument(argument, in: expression)
            described.append(
                .init(kind: value.kind, isBytes: value.attribute?.type == .transformable, format: argument.format))
            list += ", \(value.exact ?? value.sql)"
        }
        let attribute = transforms.attribute
        let name = transforms.call(transform, described)
        return .value(
            LoweredValue(
                sql: "\(name: name)(\(evaluated.key)\(list))", kind: ValueKind(attribute.type) ?? .opaque,
                attribute: attribute))
    }

    private func transformArgument(_ argument: Expression, in expression: Expression) throws -> LoweredValue {
        let lowered = try lower(argument)
        guard case .value(var value) = lowered, value.kind == .opaque, let attribute = value.attribute else {
            return try single(lowered, in: expression)
        }
        if attribute.allowsExternalBinaryDataStorage {
            value.sql = "moult_inline(\(value.sql))"
            value.attribute?.allowsExternalBinaryDataStorage = false
        }
        return value
    }
}
