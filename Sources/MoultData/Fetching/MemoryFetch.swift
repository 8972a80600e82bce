import Foundation
import MoultModel
import MoultObjects

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
