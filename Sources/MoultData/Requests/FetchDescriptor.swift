import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A description of a fetch: which objects of a model are found, in which order, and how many of them.
///
/// A predicate and a sort are asked of the store in SQL and mean what they mean in Swift. What SQL cannot answer is
/// refused by the fetch, with the part named.
public struct FetchDescriptor<T: PersistentModel> {
    /// Nil for all objects.
    public var predicate: Foundation.Predicate<T>?
    /// The first decides; objects that are the same by all come in the order of their insertion.
    public var sortBy: [SortDescriptor<T>]
    /// Nil for no limit.
    public var fetchLimit: Int?
    /// The number of found objects that are left out at the beginning.
    public var fetchOffset: Int?
    /// Whether objects are found as the next save of the context would leave them.
    public var includePendingChanges = true
    /// The attributes to read at once; the others of an object are read when the first of them is asked for. Empty for
    /// all.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose objects are read together with those found, `\.author` or `\.author.books`.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
    /// Whether a predicate or a sort that no store can answer is answered in memory, with every object of the model read.
    /// SwiftData has no such property: it is false unless asked for, and such a fetch is refused.
    public var allowsInMemoryEvaluation = false

    /// A fetch of the objects that a predicate holds for, in an order; of all objects where none is given.
    public init(predicate: Foundation.Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

// The key paths are those of stored properties, which capture nothing.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor {
    /// The fetch as a store is asked for it.
    ///
    /// - Throws: `usage` for a model that the schema does not have, `fetchUnsupported` for a part of the predicate or
    ///   the sort that no store can answer.
    package func objectFetch(in schema: Schema) throws -> ObjectFetch {
        let entity = try schema.fetchedEntity(T.self)
        var fetch = ObjectFetch(entityName: entity, predicate: try predicate.map(schema.predicate))
        fetch.sort = try sortBy.map { try $0.sortTerm() }
        fetch.limit = max(fetchLimit ?? 0, 0)
        fetch.offset = max(fetchOffset ?? 0, 0)
        fetch.includesPendingChanges = includePendingChanges
        fetch.prefetched = try relationshipKeyPathsForPrefetching.map { try relationship($0, of: entity) }
        fetch.properties = Set(try propertiesToFetch.flatMap { try columns($0, of: entity) })
        // A relationship that is read ahead starts at the object's own row.
        if !fetch.properties.isEmpty {
            fetch.properties.formUnion(fetch.prefetched.compactMap { $0.split(separator: ".").first.map(String.init) })
        }
        return fetch
    }

    private func columns(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> [String] {
        if let property = ModelProperties.of(T.self)[keyPath] { return property.paths }
        throw MigrationError(
            .usage, "propertiesToFetch names \(keyPath), which is not a stored property of \(entity).", place: entity,
            remedy: "Name stored properties of \(entity), one step long.")
    }

    private func relationship(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> String {
        if let path = StoredPath(keyPath), case .relationship = path.end { return path.names.joined(separator: ".") }
        throw MigrationError(
            .usage, "relationshipKeyPathsForPrefetching names \(keyPath), which leads to no model.", place: entity,
            remedy: "Name relationships of \(entity), such as \\.author or \\.author.books.")
    }
}

extension Schema {
    /// A predicate in the words that a store is asked in. Values that it captured are read now.
    ///
    /// - Throws: `usage` for a model that the schema does not have, `fetchUnsupported` for a part that no store can
    ///   answer, with that part.
    package func predicate<T>(_ predicate: Foundation.Predicate<T>) throws -> MoultModel.Predicate {
        guard let model = T.self as? any PersistentModel.Type else {
            throw MigrationError(
                .usage, "\(T.self) is not a model.", remedy: "Fetch objects of a class with @Model.")
        }
        var translation = PredicateTranslation(self, entity: try fetchedEntity(model))
        translation.terms[predicate.variable.key] = .object(.evaluatedObject, model)
        return try translation.predicate(predicate.expression)
    }

    /// The name of the entity of a model that the schema has.
    func fetchedEntity(_ model: any PersistentModel.Type) throws -> String {
        let name = ModelProperties.of(model).entityName
        if types[name].map({ $0 == model }) == true { return name }
        let known = types.keys.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", ")
        throw MigrationError(
            .usage, "\(String(reflecting: model)) is not a model of this schema.", place: name,
            remedy: "Name it among the models of the container; those are: \(known).")
    }
}

/// A fetch whose predicate or sort is left to memory, because its descriptor allows that and a store cannot answer it.
package struct MemoryFetch<T: PersistentModel> {
    /// The fetch that the store is asked for: all objects that may be wanted.
    package let fetch: ObjectFetch
    fileprivate let descriptor: FetchDescriptor<T>
    fileprivate let sorts: Bool

    /// Returns the models that the descriptor asks for, out of all that the store has found.
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
    /// Returns the fetch that memory answers; nil if the store answers it, or where memory was not allowed to.
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

/// The results of a fetch, read a batch at a time as they are reached.
///
/// It belongs to the thread or actor of its context. One batch is kept; going back reads an earlier one again.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private final class Batches {
        let read: (Range<Int>) -> [Element]
        /// The place of the first of the elements.
        var start = 0
        var elements: [Element] = []

        init(_ read: @escaping (Range<Int>) -> [Element]) { self.read = read }
    }

    private let batches: Batches
    private let batchSize: Int
    /// The number of elements, decided when the collection was fetched.
    public let endIndex: Int
    /// Always 0.
    public var startIndex: Int { 0 }

    /// - Parameter read: gives an element for each of a range.
    init(count: Int, batchSize: Int, read: @escaping (Range<Int>) -> [Element]) {
        batches = Batches(read)
        endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
    }

    /// - Parameter position: one of the indices, as of an array.
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
