import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

/// Lowers a mapping between two versions to the statements that convert a store from one layout to the other.
///
/// Each table is changed in the cheapest safe way (``TableStrategy``): it is left untouched, its columns are altered,
/// its rows are updated, or it is rebuilt. A rebuilt table has the text of a new store and is filled from `source`, the
/// unchanged backup, by one `INSERT … SELECT`. Keys are kept.
package struct StoreLowering: Sendable {
    /// The store before the migration.
    package let source: StoreLayout
    /// A new store of the target version.
    package let destination: StoreLayout
    package let mapping: ResolvedMapping
    /// The contents of `sqlite_master` in the store.
    let catalogue: Catalogue
    /// The number of rows of each source entity, if counted.
    let rowCounts: [String: Int64]

    /// The store's foreign objects, and the decision which of them are kept.
    var keptObjects: UserSchemaObjects { didSet { forgetChanges() } }
    /// The missing parts of persistent history.
    let historyGaps: HistoryGaps

    var choice = StoreScript.Choice.normalised { didSet { forgetChanges() } }
    /// The number of column changes that would be needed, if it is faster to rebuild every changed table.
    var alterations: Int? { didSet { forgetChanges() } }

    /// The reason why no table of this store or mapping can be altered; nil if each table is decided separately.
    let obstacle: RebuildReason?
    /// Whether pairs of join tables are created only for listed objects (``PartialScript``).
    package var isPartial = false { didSet { forgetChanges() } }
    /// Whether the script is for a working copy, in which pairs without an index are sorted first.
    let sortsPairs: Bool
    /// The first column of each index of a source table, with its table.
    let leadingColumns: Set<[String]>

    /// An entity mapping that migrates rows, resolved on both sides.
    package struct RowSource: Sendable {
        fileprivate struct Sides: Sendable {
            let mapping: ResolvedEntityMapping
            let source: EntityDescription
            let destination: EntityDescription
            let sourceNumber: Int
            let destinationNumber: Int
        }

        fileprivate let sides: Shared<Sides>
        /// The SQL of the mapping's expressions and predicate, over a row `s` of the source's table.
        package var values: MappedValues
        /// The mapping's position among all mappings.
        let position: Int
        /// The number added to the keys of its objects.
        var shift: Int64 = 0

        package var mapping: ResolvedEntityMapping { sides.value.mapping }
        var source: EntityDescription { sides.value.source }
        package var destination: EntityDescription { sides.value.destination }
        package var sourceNumber: Int { sides.value.sourceNumber }
        package var destinationNumber: Int { sides.value.destinationNumber }
    }

    /// The entity mappings that take objects, including those with policies.
    private(set) var carriers: [RowSource]
    /// Contributions filled by SQL rather than by a policy.
    package private(set) var contributions: [RowSource] = []
    /// The positions in ``carriers`` by the root entity of the objects they create, followed by the number of carriers
    /// that take each source entity.
    private var placesByRoot: [String: [Int]] = [:]
    private var countsBySource: [Int: Int] = [:]
    /// The links that fill each relationship, cached because every column needs them. They depend only on the mapping
    /// and the two stores.
    let foundLinks = OnceEach<RelationshipReference, [Links]>()
    /// The cached change of each table, reset when a property above changes.
    private var knownChanges = Once<[TableChange]>()
    private var knownJoinChanges = Once<[JoinChange]>()
    /// The highest key by root entity of the destination, for tables with shifted keys.
    private(set) var highestKeys: [String: Int64] = [:]
    let keptKeys: [String: Int64]

    /// - Parameters:
    ///   - highestKeys: by source table, the highest key ever assigned there.
    ///   - keptKeys: by entity name, the highest key of an entity that an earlier state of the store had.
    ///   - isPending: whether the metadata mark deferred work. Otherwise, a removed column that kept its name would not
    ///     be recognised.
    ///   - disjoint: the positions of pairs of entity mappings whose conditions no object can both meet.
    package init(
        source: StoreLayout, destination: StoreLayout, mapping: ResolvedMapping, catalogue: Catalogue,
        rowCounts: [String: Int64], highestKeys: [String: Int64], keptKeys: [String: Int64] = [:],
        disjoint: Set<[Int]>, keeping keptObjects: UserSchemaObjects = UserSchemaObjects(),
        historyGaps: HistoryGaps = HistoryGaps(), isPending: Bool = false, sortsPairs: Bool = true
    ) throws {
        (self.sortsPairs, self.keptKeys) = (sortsPairs, keptKeys)
        leadingColumns = Self.leadingColumns(of: source)
        (self.source, self.destination, self.mapping, self.catalogue) = (source, destination, mapping, catalogue)
        (self.rowCounts, self.keptObjects, self.historyGaps) = (rowCounts, keptObjects, historyGaps)
        let isPending =
            isPending || !catalogue.leftoverTables.isEmpty
            || source.tables.contains { $0.columns.contains { DeferredName.isOne($0.name) } }
        let policy = mapping.entityMappings.lazy.compactMap(\.policy).first
        obstacle = isPending ? .workIsPending : policy.map { .policyRuns($0) }
        carriers = try mapping.entityMappings.enumerated().compactMap { position, mapping in
            try Self.contribution(of: mapping, at: position, from: source, to: destination, schema: "source")
        }
        for (place, carrier) in carriers.enumerated() {
            placesByRoot[destination.model.root(of: carrier.destination).name, default: []].append(place)
            countsBySource[carrier.sourceNumber, default: 0] += 1
        }
        try shiftKeys(above: highestKeys, disjoint)
        contributions = carriers.filter { $0.mapping.policy == nil }
    }

    /// - Parameter schema: the schema that contains the source's tables.
    static func contribution(
        of mapping: ResolvedEntityMapping, at position: Int, from source: StoreLayout, to destination: StoreLayout,
        schema: String
    ) throws -> RowSource? {
        guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { return nil }
        guard let old = source.model.entity(from), let oldNumber = source.entityNumbers[from],
            let new = destination.model.entity(to), let number = destination.entityNumbers[to]
        else {
            throw MigrationError(
                .internal, "The mapping from \(from) to \(to) names an entity that its model does not have.",
                place: to, remedy: "Report this as a bug, with both models.")
        }
        var lowered = mapping
        // A policy creates the values, but the contribution still determines which objects it takes.
        if mapping.policy != nil { (lowered.attributes, lowered.predicate) = ([:], nil) }
        let sides = RowSource.Sides(
            mapping: mapping, source: old, destination: new, sourceNumber: oldNumber, destinationNumber: number)
        return RowSource(
            sides: Shared(sides),
            values: try MappedValues(
                lowered, old, new, from: source, to: destination, schema: schema, number: position),
            position: position)
    }

    /// Keeps keys that no other object of the same table uses. Objects that come from another table, or a second time
    /// from the same objects, are shifted beyond all previous keys.
    ///
    /// - Throws: `storeCorrupted` if the keys of a table leave no room above them.
    private mutating func shiftKeys(above highest: [String: Int64], _ disjoint: Set<[Int]>) throws {
        func end(of table: String, after shift: Int64) throws -> Int64 {
            let (end, isOver) = shift.addingReportingOverflow(max(highest[table, default: 0], 0))
            guard !isOver else {
                throw MigrationError(
                    .storeCorrupted, "The highest key of \(table) leaves no room for the objects that join its table.",
                    place: table, remedy: MigrationError.damagedStoreRemedy)
            }
            return end
        }
        let roots = Dictionary(
            mapping.entityMappings.compactMap { mapping in mapping.destinationEntityName.map { ($0, mapping) } },
            uniquingKeysWith: { first, _ in first })
        for table in destination.tables {
            var blocks: [(table: String, members: [RowSource], shift: Int64)] = []
            let members = placesByRoot[table.rootEntityName] ?? []
            // If several hierarchies are merged, the one of the root's own objects keeps its keys.
            let root = roots[table.rootEntityName]
            let home = root?.sourceEntityName.flatMap { source.table(forEntity: $0)?.name } ?? table.name
            let kept = members.filter { source.table(for: carriers[$0].source)?.name == home }
            let others = Set(members).subtracting(kept).sorted()
            for index in kept + others {
                guard let name = source.table(for: carriers[index].source)?.name else { continue }
                let carrier = carriers[index]
                // A policy assigns keys itself: those of its source objects if they are free.
                let isByPolicy = carriers[index].mapping.policy != nil
                let block = blocks.firstIndex { block in
                    block.table == name
                        && block.members.allSatisfy {
                            $0.sourceNumber != carrier.sourceNumber
                                || disjoint.contains([$0.position, carrier.position])
                        }
                }
                if let block {
                    guard !isByPolicy || block == 0 else { continue }
                    blocks[block].members.append(carrier)
                    carriers[index].shift = blocks[block].shift
                } else if !isByPolicy || blocks.isEmpty {
                    let shift = try blocks.last.map { try end(of: $0.table, after: $0.shift) } ?? 0
                    blocks.append((name, [carrier], shift))
                    carriers[index].shift = shift
                }
            }
            guard blocks.count > 1, let last = blocks.last else { continue }
            highestKeys[table.rootEntityName] = try end(of: last.table, after: last.shift)
        }
    }

    /// The change of each entity table of the destination.
    package var changes: [TableChange] { knownChanges.value { destination.tables.map(change(of:)) } }

    /// The change of each join table of the destination.
    package var joinChanges: [JoinChange] { knownJoinChanges.value { destination.joinTables.map(joinChange(of:)) } }

    private mutating func forgetChanges() { (knownChanges, knownJoinChanges) = (Once(), Once()) }

    /// Returns the contributions that create rows in the table of `root`.
    func contributions(toTableOf root: String) -> [RowSource] {
        carriers(toTableOf: root).filter { $0.mapping.policy == nil }
    }

    /// Returns the contributions that create objects of an entity or its descendants.
    func contributions(to entity: EntityDescription) -> [RowSource] {
        contributions(toTableOf: destination.model.root(of: entity).name).filter {
            destination.model.isKind($0.destination, of: entity)
        }
    }

    /// Returns the carriers that create objects in the table of `root`.
    func carriers(toTableOf root: String) -> [RowSource] { placesByRoot[root, default: []].map { carriers[$0] } }

    /// Returns whether only one entity mapping takes the objects of the source entity with that number.
    func isTakenOnce(_ sourceNumber: Int) -> Bool { countsBySource[sourceNumber] == 1 }

    /// The destination's entity number for each migrated source entity number.
    var numberMap: [Int: Int] { Self.numberMap(of: carriers) }

    /// The number added to the keys of migrated objects, by source entity number.
    var shifts: [(number: Int, shift: Int64)] {
        let first = Dictionary(carriers.map { ($0.sourceNumber, $0.shift) }, uniquingKeysWith: { first, _ in first })
        return first.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    static func numberMap(of contributions: [RowSource]) -> [Int: Int] {
        Dictionary(
            contributions.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns an upper bound on the number of rows, at most the largest integer: a file may contain any count.
    func rows(of entities: [String]) -> Int64 {
        entities.reduce(0) { sum, name in
            let (total, isOver) = sum.addingReportingOverflow(rowCounts[name, default: 0])
            return isOver ? .max : total
        }
    }
}

extension [Int] {
    /// The numbers as an SQL list: `1, 2, 3`.
    package var sqlList: String { map(String.init).joined(separator: ", ") }
}

extension StoreLowering {
    /// Returns the positions, in either order, of pairs of entity mappings from one source entity into one table whose
    /// conditions no object of the store meets both. Their objects can keep their keys.
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
