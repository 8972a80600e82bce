import MoultModel

// A value of several columns asks for one after the other; which of them a key path means, its result tells.

extension PathProbe {
    /// The value of a column of a composite attribute.
    func column(_ path: String, of key: String) -> AttributeValue? {
        if walk.columns == nil {
            note(key)
            walk.columns = columns(of: key)
        } else if walk.names?.count != depth + 1 || walk.names?.last != key {
            walk.names = nil
        }
        return walk.columns?[path]
    }

    /// A value for each column of a composite attribute, by its path in it.
    private func columns(of key: String) -> [String: AttributeValue] {
        guard let property = ModelProperties.of(model)[key] else { return [:] }
        var columns = Columns(round: walk.round)
        let form = ValueForm.of(property.valueType)
        if case .rawValue = form { columns.add(form, key) } else { columns.add(form, nil) }
        return columns.values
    }

    private struct Columns {
        let round: Int
        var values: [String: AttributeValue] = [:]
        private var number = 0

        init(round: Int) { self.round = round }

        mutating func add(_ form: ValueForm, _ path: String?) {
            number += 1
            let name = path ?? ""
            switch form {
            case .plain(let type):
                values[name] = PathProbe.value(of: type.attributeType, round: round, column: number)
            case .rawValue(_, let cases):
                if !cases.isEmpty { values[name] = cases[(number >> (round % 12) + round) % cases.count] }
            case .cases(let names):
                if let first = names.first { values[path.map { "\($0).\(first)" } ?? first] = .string(first) }
            case .fields(let fields):
                for field in fields { add(field.form, path.map { "\($0).\(field.name)" } ?? field.name) }
            case .archive, .json(.array): values[name] = .binary(Array("[]".utf8))
            case .json: values[name] = .binary(Array("{}".utf8))
            case .encoded, .unknown: break
            }
        }
    }
}
