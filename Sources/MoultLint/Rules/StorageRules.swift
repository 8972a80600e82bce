import MoultModel

/// The rules about how values are stored and found, which concern time and not data.
enum StorageRules {
    static func externalStorage(_ version: LintVersion) -> [LintMatch] {
        version.model.entities.flatMap { entity in
            entity.attributes.filter { $0.allowsExternalBinaryDataStorage && $0.isStored && $0.type.isSmall }.map {
                LintMatch(
                    version.name, entity.name, $0.name,
                    "\(entity.name).\($0.name) is of type \($0.type.name) and asks for external storage, which is for "
                        + "large data.",
                    remedy: "Remove the setting.", edit: .init(("allowsExternalBinaryDataStorage", nil)))
            }
        }
    }

    static func lookups(_ version: LintVersion) -> [LintMatch] {
        version.model.fetchRequestTemplates.compactMap { request in
            guard let entity = version.model.entity(request.entityName),
                let predicate = request.predicate.flatMap({ try? Predicate(parsing: $0) })
            else { return nil }
            let compared = predicate.comparedKeys.filter {
                version.model.attribute($0, of: entity).map { $0.isStored && $0.type != .boolean } == true
            }
            let indexed = version.model.lineage(of: entity).reduce(into: Set<String>()) { names, entity in
                names.formUnion(entity.leadingKeys)
            }
            guard let first = compared.first, indexed.isDisjoint(with: compared) else { return nil }
            return LintMatch(
                version.name, nil, request.name,
                "The fetch request \(request.name) compares \(compared.joined(separator: ", ")) of \(entity.name), and no "
                    + "index begins with \(compared.count == 1 ? "it" : "one of them"). Each call reads every row.",
                remedy: "If there are many objects, add a fetch index over \(first) to \(entity.name).")
        }
    }
}

extension AttributeType {
    /// Whether no value of the type is large.
    fileprivate var isSmall: Bool {
        let small: Set<AttributeType> = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date, .uuid,
        ]
        return small.contains(self)
    }
}

extension EntityDescription {
    /// The properties that an index or a uniqueness constraint begins with.
    fileprivate var leadingKeys: [String] {
        let indexes = fetchIndexes.compactMap { index -> String? in
            if case .property(let name)? = index.elements.first?.subject { name } else { nil }
        }
        return indexes + uniquenessConstraints.compactMap(\.first) + compoundIndexes.compactMap(\.first)
            + attributes.filter(\.isIndexed).map(\.name)
    }
}

extension Predicate {
    /// The properties of the object itself that a search by an index could begin with, in byte order.
    fileprivate var comparedKeys: [String] {
        var keys: Set<String> = []
        func add(_ predicate: Predicate) {
            switch predicate {
            case .and(let parts), .or(let parts): parts.forEach(add)
            case .comparison(let comparison):
                let searching: Set<Operator> = [
                    .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .in, .between, .beginsWith,
                ]
                guard comparison.modifier == .direct, comparison.options.isEmpty,
                    searching.contains(comparison.operator),
                    case .keyPath(let name, .evaluatedObject) = comparison.left, !name.contains(".")
                else { return }
                keys.insert(name)
            case .constant, .not: return
            }
        }
        add(self)
        return keys.sorted { $0.precedesInByteOrder($1) }
    }
}
