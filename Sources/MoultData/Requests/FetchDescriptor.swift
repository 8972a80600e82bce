import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A description of a fetch: the objects to find, their order, and their number.
///
/// The store evaluates the predicate and the sort in SQL, with the meaning that they have in Swift. If SQL cannot
/// express a part, the fetch throws an error that names it.
public struct FetchDescriptor<T: PersistentModel> {
    /// The predicate that objects must match; nil for all objects.
    public var predicate: Foundation.Predicate<T>?
    /// The sort descriptors, in order of precedence. Objects that they do not distinguish come in the order of
    /// insertion.
    public var sortBy: [SortDescriptor<T>]
    /// The maximum number of objects; nil for no limit.
    public var fetchLimit: Int?
    /// The number of matching objects to skip at the beginning.
    public var fetchOffset: Int?
    /// Whether the fetch takes unsaved changes of the context into account.
    public var includePendingChanges = true
    /// The attributes to read at once. An object's other attributes are read when the first of them is accessed. Empty
    /// for all attributes.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships whose objects are read together with the results, such as `\.author` or `\.author.books`.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
    /// Whether to evaluate in memory a predicate or a sort that no store can evaluate, which reads every object of the
    /// model. SwiftData has no such property. The default is false, which refuses such a fetch.
    public var allowsInMemoryEvaluation = false

    /// Creates a fetch of the objects that match a predicate, or of all objects, in an order.
    public init(predicate: Foundation.Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

// The key paths are those of stored properties, which capture nothing.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor {
    /// Returns the fetch in the form for a store.
    ///
    /// - Throws: `usage` for a model that the schema does not have; `fetchUnsupported` for a part of the predicate or
    ///   the sort that no store can evaluate.
    package func objectFetch(in schema: Schema) throws -> ObjectFetch {
        let entity = try schema.fetchedEntity(T.self)
        var fetch = ObjectFetch(entityName: entity, predicate: try predicate.map(schema.predicate))
        fetch.sort = try sortBy.map { try $0.sortTerm() }
        fetch.limit = max(fetchLimit ?? 0, 0)
        fetch.offset = max(fetchOffset ?? 0, 0)
        fetch.includesPendingChanges = includePendingChanges
        fetch.prefetched = try relationshipKeyPathsForPrefetching.map { try relationship($0, of: entity) }
        fetch.properties = Set(try propertiesToFetch.flatMap { try columns($0, of: entity) })
        // Prefetching a relationship starts from the object's own row.
        if !fetch.properties.isEmpty {
            fetch.properties.formUnion(fetch.prefetched.compactMap { $0.split(separator: ".").first.map(String.init) })
        }
        return fetch
    }

    private func columns(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> [String] {
        if let property = ModelProperties.of(T.self)[keyPath] { return property.paths }
        throw MigrationError(
            .usage, "propertiesToFetch names \(keyPath.spelling), which is not a stored property of \(entity).",
            place: entity,
            remedy: "Name stored properties of \(entity), one step long.")
    }

    private func relationship(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> String {
        if let path = StoredPath(keyPath), case .relationship = path.end { return path.names.joined(separator: ".") }
        throw MigrationError(
            .usage, "relationshipKeyPathsForPrefetching names \(keyPath.spelling), which leads to no model.",
            place: entity,
            remedy: "Name relationships of \(entity), such as \\.author or \\.author.books.")
    }
}

extension Schema {
    /// Returns a predicate in the form for a store. The values that it captured are read now.
    ///
    /// - Throws: `usage` for a model that the schema does not have; `fetchUnsupported`, with the part that no store can
    ///   evaluate.
    package func predicate<T>(_ predicate: Foundation.Predicate<T>) throws -> MoultModel.Predicate {
        guard let model = T.self as? any PersistentModel.Type else {
            throw MigrationError(
                .usage, "\(T.self) is not a model.", remedy: "Fetch objects of a class with @Model.")
        }
        var translation = PredicateTranslation(self, entity: try fetchedEntity(model))
        translation.terms[predicate.variable.key] = .object(.evaluatedObject, model)
        return try translation.predicate(predicate.expression)
    }

    /// Returns the entity name of a model, which must be in the schema.
    func fetchedEntity(_ model: any PersistentModel.Type) throws -> String {
        let name = ModelProperties.of(model).entityName
        if types[name].map({ $0 == model }) == true { return name }
        let known = types.keys.inByteOrder().joined(separator: ", ")
        throw MigrationError(
            .usage, "\(String(reflecting: model)) is not a model of this schema.", place: name,
            remedy: "Name it among the models of the container; those are: \(known).")
    }
}

/// A fetch whose predicate or sort is evaluated in memory, because the store cannot and the descriptor allows it.
package struct MemoryFetch<T: PersistentModel> {
    /// The fetch for the store, which finds all objects that may match.
    package let fetch: ObjectFetch
    fileprivate let descriptor: FetchDescriptor<T>
    fileprivate let sorts: Bool

    /// Returns the models that the descriptor matches, from all that the store has found.
    /// - Throws: what `evaluate` throws.
    package func result(of models: [T]) throws -> [T] {
        var found = models
        if let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
        if sorts { found = found.sorted(using: descriptor.sortBy) }
        let rest = found.dropFirst(max(descriptor.fetchOffset ?? 0, 0))
        return Array(descriptor.fetchLimit.map { $0 > 0 ? rest.prefix($0) : rest } ?? rest)
    }
}

extension FetchDescriptor {
    /// Returns the fetch to evaluate in memory; nil if the store can evaluate it, or if the descriptor does not allow
    /// it.
    package func memoryFetch(in schema: Schema) throws -> MemoryFetch<T>? {
        guard allowsInMemoryEvaluation else { return nil }
        do {
            _ = try objectFetch(in: schema)
            return nil
        } catch let error as MigrationError where error.code == .fetchUnsupported {
            var wide = self
            (wide.predicate, wide.fetchLimit, wide.fetchOffset, wide.propertiesToFetch) = (nil, nil, nil, [])
            if let fetch = try? wide.objectFetch(in: schema) {
                return MemoryFetch(fetch: fetch, descriptor: self, sorts: false)
            }
            wide.sortBy = []
            return MemoryFetch(fetch: try wide.objectFetch(in: schema), descriptor: self, sorts: true)
        }
    }
}

/// The results of a fetch, read in batches as they are accessed.
///
/// The collection belongs to the thread or actor of its context. It keeps one batch; going back reads an earlier one
/// again.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private final class Batches {
        let read: (Range<Int>) -> [Element]
        /// The index of the first element.
        var start = 0
        var elements: [Element] = []

        init(_ read: @escaping (Range<Int>) -> [Element]) { self.read = read }
    }

    private let batches: Batches
    private let batchSize: Int
    /// The number of elements, fixed when the collection was fetched.
    public let endIndex: Int
    /// Always 0.
    public var startIndex: Int { 0 }

    /// - Parameter read: returns the elements in a range.
    init(count: Int, batchSize: Int, read: @escaping (Range<Int>) -> [Element]) {
        batches = Batches(read)
        endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
    }

    /// - Parameter position: a valid index, as for an array.
    public subscript(position: Int) -> Element {
        if !batches.elements.indices.contains(position - batches.start) {
            precondition(indices.contains(position), "There is no element \(position) among \(endIndex).")
            batches.start = position / batchSize * batchSize
            batches.elements = batches.read(
                batches.start..<batches.start + Swift.min(endIndex - batches.start, batchSize))
        }
        return batches.elements[position - batches.start]
    }
}
