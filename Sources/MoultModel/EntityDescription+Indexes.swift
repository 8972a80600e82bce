/// A model says that it wants an index in three ways: the indexed switch of an attribute, a compound index and a fetch
/// index. A compiled model translates each into the others, and every framework makes what it knows (STORE_FORMAT 5).
extension EntityDescription {
    /// The fetch indexes, before them those that the older ways stand for.
    package var effectiveFetchIndexes: [FetchIndexDescription] {
        let names = Set(fetchIndexes.map(\.name))
        let single = singleIndexedAttributes.filter { !names.contains($0) }.map {
            FetchIndexDescription(name: $0, elements: [.init(subject: .property($0))])
        }
        let known = Set(fetchIndexes.compactMap(\.properties))
        let compound = compoundIndexes.filter { !known.contains($0) }.map { properties in
            FetchIndexDescription(
                name: properties.joined(separator: "_"), elements: properties.map { .init(subject: .property($0)) })
        }
        return single + fetchIndexes + compound.filter { !names.contains($0.name) }
    }

    /// The attributes that have the indexed switch: first those whose fetch indexes set it, in the order of these.
    private var singleIndexedAttributes: [String] {
        let stored = Set(attributes.filter(\.isStored).map(\.name))
        let switched = fetchIndexes.flatMap { index in (index.properties ?? []).filter(index.setsIndexedSwitch) }
        var seen: Set<String> = []
        return (switched + attributes.filter(\.isIndexed).map(\.name)).filter {
            stored.contains($0) && seen.insert($0).inserted
        }
    }

    /// The compound indexes, after them those that fetch indexes stand for.
    package var effectiveCompoundIndexes: [[String]] {
        let translated = fetchIndexes.compactMap(\.properties).filter { $0.count > 1 && !compoundIndexes.contains($0) }
        return compoundIndexes + translated
    }

    /// Whether an attribute has the indexed switch, or the compiler of a model file sets it because a fetch index has
    /// that attribute alone. What SwiftData declares never passes that compiler.
    package func indexes(_ attribute: AttributeDescription) -> Bool {
        attribute.isIndexed
            || fetchIndexes.contains { $0.setsIndexedSwitch(of: attribute.name) }
    }

    /// Takes back what the compiler of a model file added, so that each index is said once. The effective indexes are
    /// the same before and after.
    package mutating func removeTranslatedIndexes() {
        let switched = Set(attributes.filter(\.isIndexed).map(\.name))
        fetchIndexes.removeAll { index in
            index.properties == [index.name] && switched.contains(index.name)
                && index.elements.allSatisfy(\.isAscending)
        }
        for position in attributes.indices where attributes[position].isIndexed {
            let name = attributes[position].name
            attributes[position].isIndexed = !fetchIndexes.contains { $0.setsIndexedSwitch(of: name) }
        }
        let compound = compoundIndexes
        fetchIndexes.removeAll { index in
            compound.contains { $0 == index.properties && $0.joined(separator: "_") == index.name }
                && index.elements.allSatisfy(\.isAscending)
        }
        compoundIndexes.removeAll { properties in fetchIndexes.contains { $0.properties == properties } }
    }
}

extension FetchIndexDescription {
    fileprivate func setsIndexedSwitch(of attribute: String) -> Bool {
        properties == [attribute] && !name.hasPrefix("SwiftDataIndexOn")
    }

    /// The names of the properties, where the index is of them alone; nil for an R-tree or a partial index.
    fileprivate var properties: [String]? {
        guard partialIndexPredicate == nil, elements.allSatisfy({ $0.kind == .binary }) else { return nil }
        let names = elements.compactMap { element -> String? in
            if case .property(let name) = element.subject { name } else { nil }
        }
        return names.count == elements.count ? names : nil
    }
}
