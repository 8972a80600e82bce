/// A fetch index of an entity (models since 2017).
public struct FetchIndexDescription: Sendable, Hashable {
    /// The index's name, which is also part of its name in SQLite.
    public var name: String
    /// The columns, in the order in which the index sorts by them.
    public var elements: [Element]
    /// The predicate of a partial index, in Core Data's format language.
    public var partialIndexPredicate: String?

    /// An index over all rows of the entity, or over those that a predicate holds for.
    public init(name: String, elements: [Element], partialIndexPredicate: String? = nil) {
        (self.name, self.elements, self.partialIndexPredicate) = (name, elements, partialIndexPredicate)
    }

    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The property or the expression whose values the column holds.
        public var subject: Subject
        /// The data structure of the column; an R-tree needs it in every column of the index.
        public var kind: Kind
        /// Whether the least value comes first.
        public var isAscending: Bool
        /// The result type of an expression, as the model file words it.
        public var expressionType: String?

        /// A column of a binary index in ascending order, unless told otherwise.
        public init(subject: Subject, kind: Kind = .binary, isAscending: Bool = true, expressionType: String? = nil) {
            (self.subject, self.kind) = (subject, kind)
            (self.isAscending, self.expressionType) = (isAscending, expressionType)
        }
    }

    /// The subject of an element: a property by name, or an expression such as `self` or `entity`.
    public enum Subject: Sendable, Hashable {
        case property(String)
        case expression(String)
    }

    /// The data structure, with Core Data's numbers (`NSFetchIndexElementType`).
    public enum Kind: Int, Sendable, Hashable {
        case binary = 0
        case rTree = 1
    }
}

/// A model can ask for an index in three ways: the indexed switch of an attribute, a compound index, and a fetch index.
/// The first two are older. Next to fetch indexes they only repeat them.
extension EntityDescription {
    /// The fetch indexes, and one for each older index that no fetch index stands for.
    ///
    /// An attribute in a fetch index gets no second index of its own name, but for one in a source of Xcode: of an
    /// attribute with a fetch index of that attribute alone, in ascending order, Xcode's compiler makes one of its name too.
    package func effectiveFetchIndexes(ofSource isOfSource: Bool) -> [FetchIndexDescription] {
        let names = Set(fetchIndexes.map(\.name))
        let indexed = Set(fetchIndexes.flatMap(\.elements).compactMap(\.property))
        let single = attributes.filter { attribute in
            let isRepeated = fetchIndexes.contains {
                $0.properties == [attribute.name] && $0.elements.allSatisfy(\.isAscending)
            }
            return attribute.isStored && !names.contains(attribute.name)
                && (attribute.isIndexed && !indexed.contains(attribute.name) || isOfSource && isRepeated)
        }.map { FetchIndexDescription(name: $0.name, elements: [.init(subject: .property($0.name))]) }
        let known = Set(fetchIndexes.compactMap(\.properties))
        let compound = compoundIndexes.filter { !known.contains($0) }.map { properties in
            FetchIndexDescription(
                name: properties.joined(separator: "_"), elements: properties.map { .init(subject: .property($0)) })
        }
        return single + fetchIndexes + compound.filter { !names.contains($0.name) }
    }

    /// The same of an entity of no source.
    package var effectiveFetchIndexes: [FetchIndexDescription] { effectiveFetchIndexes(ofSource: false) }

    /// The compound indexes, after them those that fetch indexes stand for.
    package var effectiveCompoundIndexes: [[String]] {
        let translated = fetchIndexes.compactMap(\.properties).filter { $0.count > 1 && !compoundIndexes.contains($0) }
        return compoundIndexes + translated
    }

    /// Whether an attribute has the indexed switch, or a fetch index of that attribute alone sets it.
    package func indexes(_ attribute: AttributeDescription) -> Bool {
        attribute.isIndexed || fetchIndexes.contains { $0.properties == [attribute.name] }
    }

    /// Removes the older indexes that a compiled model repeats next to its fetch indexes, so that each index is listed
    /// once.
    ///
    /// A fetch index that only says what the indexed switch of an attribute or a compound index says, as Xcode compiles
    /// these, becomes that switch or compound index again.
    /// - Returns: the attributes and compound indexes that no fetch index stands for. Core Data makes no index for them
    ///   where a model has fetch indexes.
    package mutating func removeTranslatedIndexes() -> [String] {
        let described = Set(fetchIndexes.flatMap(\.elements).compactMap(\.property))
        var ignored: [String] = []
        for properties in compoundIndexes {
            let own = fetchIndexes.filter { $0.properties == properties }
            let isTranslated = own.count == 1 && own[0].translates(properties, named: properties.joined(separator: "_"))
            if isTranslated { fetchIndexes.removeAll { $0.properties == properties } }
            if !isTranslated { compoundIndexes.removeAll { $0 == properties } }
            if own.isEmpty, !properties.isEmpty { ignored.append(properties.joined(separator: ", ")) }
        }
        for position in attributes.indices where attributes[position].isIndexed {
            let name = attributes[position].name
            let own = fetchIndexes.filter { $0.elements.contains { $0.property == name } }
            let isTranslated = own.count == 1 && own[0].translates([name], named: name)
            if isTranslated { fetchIndexes.removeAll { $0.name == name } }
            attributes[position].isIndexed = isTranslated
            if !described.contains(name) { ignored.append(name) }
        }
        return ignored
    }
}

extension FetchIndexDescription.Element {
    /// The name of the property; nil for an expression.
    fileprivate var property: String? {
        if case .property(let name) = subject { name } else { nil }
    }
}

extension FetchIndexDescription {
    /// Whether the index is what an older index of `properties` becomes.
    fileprivate func translates(_ properties: [String], named name: String) -> Bool {
        self.name == name && self.properties == properties && elements.allSatisfy(\.isAscending)
    }

    /// The names of the properties, where the index is of them alone; nil for an R-tree or a partial index.
    fileprivate var properties: [String]? {
        guard partialIndexPredicate == nil, elements.allSatisfy({ $0.kind == .binary }) else { return nil }
        let names = elements.compactMap(\.property)
        return names.count == elements.count ? names : nil
    }
}

extension ManagedObjectModel {
    /// Every fetch index that a store has of one of the model's entities.
    package func effectiveFetchIndexes(of entity: EntityDescription) -> [FetchIndexDescription] {
        entity.effectiveFetchIndexes(ofSource: isSource)
    }

    /// Whether Xcode's compiler makes the model that an app has of it. An archive describes every index itself, and so do
    /// SwiftData's types.
    private var isSource: Bool { !documentAttributes.isEmpty && documentAttributes["usedWithSwiftData"] != "YES" }
}
