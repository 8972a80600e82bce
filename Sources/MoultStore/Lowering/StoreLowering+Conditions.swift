import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// The pairs of entity mappings of one source entity into one table whose conditions no object of the store
    /// fulfils both, by their places, either way round: their objects can keep their keys.
    ///
    /// - Parameter connection: the store, as `main`.
    static func disjoint(
        _ mapping: ResolvedMapping, from source: StoreLayout, to destination: StoreLayout, over connection: Connection
    ) throws -> Set<[Int]> {
        guard mapping.entityMappings.contains(where: { $0.predicate != nil && $0.policy == nil }) else { return [] }
        try FormatFunctions.register(on: connection)
        let picked = try mapping.entityMappings.enumerated().compactMap { position, mapping in
            mapping.predicate == nil || mapping.policy != nil
                ? nil : try contribution(of: mapping, at: position, from: source, to: destination, schema: "main")
        }
        var disjoint: Set<[Int]> = []
        for first in picked {
            for second in picked
            where second.position > first.position && second.sourceNumber == first.sourceNumber
                && destination.model.root(of: second.destination).name
                    == destination.model.root(of: first.destination).name
            {
                guard let table = source.table(for: first.source)?.name, let one = first.values.condition,
                    let other = second.values.condition
                else { continue }
                let both = try connection.integer(
                    """
                    SELECT EXISTS (SELECT 1 FROM main.\(table: table) AS s \
                    WHERE s.Z_ENT = \(first.sourceNumber) AND (\(one)) AND (\(other)))
                    """)
                guard both == 0 else { continue }
                disjoint.formUnion([[first.position, second.position], [second.position, first.position]])
            }
        }
        return disjoint
    }
}
