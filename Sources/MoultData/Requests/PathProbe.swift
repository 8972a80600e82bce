import Foundation
import MoultModel

/// Backing data that records the properties a key path reads, to find out what the key path refers to.
final class PathProbe: BackingData {
    /// The record of one walk along a key path.
    final class Walk {
        /// The names of the properties read; nil after a step that did not follow from the one before.
        var names: [String]? = []
        /// The model returned last.
        var last: AnyObject?
        var value: AttributeValue?
        /// The values returned for the columns of a composite attribute, by path within it.
        var columns: [String: AttributeValue]?
        var isToMany = false
        let round: Int

        init(round: Int) { self.round = round }
    }

    let walk: Walk
    let model: any PersistentModel.Type
    let depth: Int

    private init(_ model: any PersistentModel.Type, _ walk: Walk, depth: Int) {
        (self.model, self.walk, self.depth) = (model, walk, depth)
    }

    /// Returns the path of a key path; nil if the key path is not one of stored properties.
    static func walk<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>) -> StoredPath? {
        // A key path of one step to something other than a stored property is computed, so do not run it, unless it is
        // the identity.
        let isLong = "\(keyPath)".filter { $0 == "." }.count > 1
        guard isLong || type(of: keyPath).valueType == PersistentIdentifier.self else { return nil }
        // With two values in each round, twelve rounds can distinguish more columns than a composite attribute has.
        let found = (0..<12).map { paths(keyPath, round: $0) }
        let same = found[0].filter { path in found.allSatisfy { $0.contains { $0.names == path.names } } }
        return same.count == 1 && isLong != same[0].names.isEmpty ? same.first : nil
    }

    /// Returns the paths that a key path may have, according to one walk.
    private static func paths<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, round: Int) -> [StoredPath] {
        let walk = Walk(round: round)
        let probe = PathProbe(Model.self, walk, depth: 0)
        let result = Model(backingData: probe)[keyPath: keyPath]
        guard let names = walk.names else { return [] }
        if let id = unwrapped(result) as? PersistentIdentifier {
            return id == Self.identity(names.count) ? [StoredPath(names, .identity)] : []
        }
        guard !names.isEmpty else { return [] }
        if walk.isToMany {
            if let count = result as? Int, count == round + 1 { return [StoredPath(names, .count)] }
            return result is any RelationshipCollection ? [StoredPath(names, .relationship)] : []
        }
        if let columns = walk.columns {
            return columns.sorted { $0.key < $1.key }.compactMap { path, value in
                end(result, value, keyPath).map { StoredPath(names + [path], $0) }
            }
        }
        guard let value = walk.value else {
            guard let last = walk.last, let model = unwrapped(result) as? any PersistentModel, model === last else {
                return []
            }
            return [StoredPath(names, .relationship)]
        }
        return end(result, value, keyPath).map { [StoredPath(names, $0)] } ?? []
    }

    /// Returns the end of a key path whose result is the value of a column; nil for any other result.
    private static func end(_ result: Any, _ value: AttributeValue, _ keyPath: AnyKeyPath) -> StoredPath.End? {
        if let order = unwrapped(result) as? _LocalizedOrder, case .string(let text) = value {
            if order == text._localizedOrder, order != text._localizedStandardOrder { return .localizedOrder }
            return order == text._localizedStandardOrder ? .localizedStandardOrder : nil
        }
        guard let constant = ExpressionValue(predicateConstant: result),
            constant.key == ExpressionValue(value).key
        else { return nil }
        return .attribute(type(of: keyPath).valueType)
    }

    private static func unwrapped(_ value: Any) -> Any {
        guard let optional = value as? any NilTest, let wrapped = optional.wrapped else { return value }
        return unwrapped(wrapped)
    }

    // MARK: - Returned values

    var persistentModelID: PersistentIdentifier { Self.identity(depth) }

    /// Returns the identity of the object at a depth.
    private static func identity(_ depth: Int) -> PersistentIdentifier {
        PersistentIdentifier(ObjectID(temporary: Int64(depth), entityName: ""))
    }

    func note(_ key: String) {
        guard walk.names?.count == depth, walk.value == nil, !walk.isToMany else {
            walk.names = nil
            return
        }
        walk.names?.append(key)
    }

    private func shape(of key: String) -> _PropertyShape? { ModelProperties.of(model)[key]?.shape }

    func attribute(_ key: String) -> AttributeValue? {
        if let point = key.firstIndex(of: ".") {
            return column(String(key[key.index(after: point)...]), of: String(key[..<point]))
        }
        note(key)
        guard let property = ModelProperties.of(model)[key], case .attribute(let attribute) = property.shape else {
            return nil
        }
        if let cases = withoutOptionals(property.valueType) as? any CaseIterable.Type {
            walk.value = cases.storedCase(walk.round)
        } else {
            walk.value = Self.value(of: attribute.type, round: walk.round)
        }
        return walk.value
    }

    func toOne(_ key: String) -> (any PersistentModel)? {
        note(key)
        guard case .toOne(let destination, _)? = shape(of: key) else { return nil }
        let next = destination.init(backingData: PathProbe(destination, walk, depth: depth + 1))
        walk.last = next
        return next
    }

    func toMany(_ key: String) -> [any PersistentModel]? {
        note(key)
        walk.isToMany = true
        guard case .toMany(let destination, _)? = shape(of: key) else { return [] }
        return (0...walk.round).map { _ in
            destination.init(backingData: PathProbe(destination, walk, depth: depth + 1))
        }
    }

    /// Returns a value that a computed property is unlikely to produce from another.
    static func value(of type: AttributeType, round: Int, column: Int = 0) -> AttributeValue? {
        let number = Int64([23_117, 31_013, 8][round % 3]) + Int64(round / 3 * 5 + column * 41)
        switch type {
        case .integer16: return .integer(number % 97)
        case .integer32, .integer64: return .integer(number)
        // A bit of the column's own number, so that two columns differ in some round.
        case .boolean: return .boolean((column + 2) & (1 << (round % 12)) != 0)
        case .double, .float: return .double(0.25 - Double(number))
        case .decimal: return .decimal("-\(number).125")
        case .string:
            let text = ["  9 a10\u{E9}Z", "Q7 08 x\u{301} ", "b2B"][round % 3]
            return .string(column == 0 && round < 3 ? text : "\(text)\(column)r\(round)")
        case .date: return .date(Double(number) + 0.5)
        case .uuid: return .uuid((1...16).map { UInt8(truncatingIfNeeded: number &* Int64($0)) })
        case .uri: return .uri("https://example.org/\(number)")
        case .binary: return .binary([UInt8(truncatingIfNeeded: number), 3, UInt8(truncatingIfNeeded: column)])
        case .undefined, .transformable, .objectID, .composite: return nil
        }
    }

    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}
}

extension CaseIterable {
    /// Returns one of the cases, in stored form.
    fileprivate static func storedCase(_ number: Int) -> AttributeValue? {
        let cases = Array(allCases)
        guard !cases.isEmpty, let value = cases[number % cases.count] as? any RawRepresentable else { return nil }
        return (value.rawValue as? any PersistentValue)?.attributeValue
    }
}

// A value of several columns reads them one after the other; the result shows which of them the key path refers to.

extension PathProbe {
    /// Returns the value of a column of a composite attribute.
    func column(_ path: String, of key: String) -> AttributeValue? {
        if walk.columns == nil {
            note(key)
            walk.columns = columns(of: key)
        } else if walk.names?.count != depth + 1 || walk.names?.last != key {
            walk.names = nil
        }
        return walk.columns?[path]
    }

    /// Returns a value for each column of a composite attribute, by path within it.
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
