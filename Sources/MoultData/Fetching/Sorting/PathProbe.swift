import Foundation
import MoultModel

/// Backing data that notes what it is asked for.
final class PathProbe: BackingData {
    /// What one walk along a key path has met.
    final class Walk {
        /// Nil once a step did not follow from the one before.
        var names: [String]? = []
        /// What was handed out last.
        var last: AnyObject?
        var value: AttributeValue?
        var isToMany = false
        let round: Int

        init(round: Int) { self.round = round }
    }

    private let walk: Walk
    private let model: any PersistentModel.Type
    private let depth: Int

    private init(_ model: any PersistentModel.Type, _ walk: Walk, depth: Int) {
        self.model = model
        self.walk = walk
        self.depth = depth
    }

    /// The path that a key path means; nil where it gives something else than a stored property.
    static func walk<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>) -> StoredPath? {
        // One step that is no stored property is a computed one, which would run for nothing.
        guard "\(keyPath)".filter({ $0 == "." }).count > 1 else { return nil }
        let found = (0..<3).map { step(keyPath, round: $0) }
        guard let first = found[0], found.allSatisfy({ $0?.names == first.names }) else { return nil }
        return first
    }

    private static func step<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, round: Int) -> StoredPath? {
        let walk = Walk(round: round)
        let probe = PathProbe(Model.self, walk, depth: 0)
        let result = Model(backingData: probe)[keyPath: keyPath]
        guard let names = walk.names, !names.isEmpty else { return nil }
        if walk.isToMany {
            if let count = result as? Int, count == round + 1 { return StoredPath(names, .count) }
            return result is any RelationshipCollection ? StoredPath(names, .relationship) : nil
        }
        guard let value = walk.value else {
            guard let last = walk.last, let model = unwrapped(result) as? any PersistentModel, model === last else {
                return nil
            }
            return StoredPath(names, .relationship)
        }
        if let order = unwrapped(result) as? _LocalizedOrder, case .string(let text) = value {
            if order == text._localizedOrder, order != text._localizedStandardOrder {
                return StoredPath(names, .localizedOrder)
            }
            return order == text._localizedStandardOrder ? StoredPath(names, .localizedStandardOrder) : nil
        }
        guard let constant = ExpressionValue(predicateConstant: result),
            constant.key == ExpressionValue(value).key
        else { return nil }
        return StoredPath(names, .attribute(type(of: keyPath).valueType))
    }

    private static func unwrapped(_ value: Any) -> Any {
        guard let optional = value as? any NilTest, let wrapped = optional.wrapped else { return value }
        return unwrapped(wrapped)
    }

    // MARK: - What is handed out

    let persistentModelID = PersistentIdentifier(ObjectID(temporary: 0, entityName: ""))

    private func note(_ key: String) {
        guard walk.names?.count == depth, walk.value == nil, !walk.isToMany else {
            walk.names = nil
            return
        }
        walk.names?.append(key)
    }

    private func shape(of key: String) -> _PropertyShape? { ModelProperties.of(model)[key]?.shape }

    func attribute(_ key: String) -> AttributeValue? {
        note(key)
        guard let property = ModelProperties.of(model)[key], case .attribute(let type, _, _) = property.shape else {
            return nil
        }
        if let enumeration = withoutOptionals(property.valueType) as? any CaseIterable.Type {
            walk.value = enumeration.storedCase(walk.round)
        } else {
            walk.value = Self.value(of: type, round: walk.round)
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

    /// A value that nobody makes of another by chance.
    private static func value(of type: AttributeType, round: Int) -> AttributeValue? {
        let number = Int64([23_117, 31_013, 8][round])
        switch type {
        case .integer16: return .integer(number % 97)
        case .integer32, .integer64: return .integer(number)
        case .boolean: return .boolean(round == 1)
        case .double, .float: return .double(0.25 - Double(number))
        case .decimal: return .decimal("-\(number).125")
        case .string: return .string(["  9 a10\u{E9}Z", "Q7 08 x\u{301} ", "b2B"][round])
        case .date: return .date(Double(number) + 0.5)
        case .uuid: return .uuid((0..<16).map { UInt8(truncatingIfNeeded: number &* Int64($0)) })
        case .uri: return .uri("https://example.org/\(number)")
        case .binary: return .binary([UInt8(truncatingIfNeeded: number), 3])
        case .undefined, .transformable, .objectID, .composite: return nil
        }
    }

    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}
}

extension CaseIterable {
    /// One of the cases, as a column holds it.
    fileprivate static func storedCase(_ number: Int) -> AttributeValue? {
        let cases = Array(allCases)
        guard !cases.isEmpty, let value = cases[number % cases.count] as? any RawRepresentable else { return nil }
        return (value.rawValue as? any PersistentValue)?.attributeValue
    }
}
