import MoultModel
import MoultPlan
import MoultSQLite

/// Lowers a mapping between two versions to the statements that carry a store from one layout to the other.
///
/// A table whose text and values stay is not touched; one whose text stays is updated; every other is made anew with
/// the text of a fresh store and filled from `source`, the unchanged backup, in one `INSERT … SELECT`. Keys are kept.
struct StoreLowering {
    /// The store as it is.
    let source: StoreLayout
    /// A fresh store of the target version.
    let destination: StoreLayout
    let mapping: ResolvedMapping
    /// What `sqlite_master` of the store says.
    let catalogue: Catalogue
    /// Rows by source entity, where they were counted.
    let rowCounts: [String: Int64]

    /// One entity mapping that carries rows, resolved on both sides.
    struct Contribution: Sendable {
        let mapping: ResolvedEntityMapping
        let source: EntityDescription
        let destination: EntityDescription
        let sourceNumber: Int
        let destinationNumber: Int
        /// The SQL of each attribute that has an expression, over a row `s` of the source's table.
        let expressions: [String: String]
    }

    /// The entity mappings that take objects, those of policies among them.
    let carriers: [Contribution]
    /// Those whose rows statements make.
    var contributions: [Contribution] { carriers.filter { $0.mapping.policy == nil } }

    init(
        source: StoreLayout, destination: StoreLayout, mapping: ResolvedMapping, catalogue: Catalogue,
        rowCounts: [String: Int64]
    ) throws {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.catalogue = catalogue
        self.rowCounts = rowCounts
        carriers = try mapping.entityMappings.compactMap { mapping in
            if mapping.policy == nil, let predicate = mapping.predicate {
                throw MigrationError(
                    .unsupported, "The mapping takes only objects with \(predicate.format).", place: mapping.name,
                    remedy: "Write a migration policy for it.")
            }
            guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { return nil }
            guard let sourceEntity = source.model.entity(from), let sourceNumber = source.entityNumbers[from],
                let entity = destination.model.entity(to), let number = destination.entityNumbers[to]
            else {
                throw MigrationError(
                    .internal, "The mapping from \(from) to \(to) names an entity that its model does not have.",
                    place: to, remedy: "Report this to Moult with both models.")
            }
            return Contribution(
                mapping: mapping, source: sourceEntity, destination: entity, sourceNumber: sourceNumber,
                destinationNumber: number,
                expressions: mapping.policy != nil
                    ? [:] : try Self.expressions(of: mapping, sourceEntity, entity, from: source, to: destination))
        }
    }

    /// The contributions whose rows end in the table of `root`.
    func contributions(toTableOf root: String) -> [Contribution] {
        contributions.filter { destination.model.root(of: $0.destination).name == root }
    }

    /// The number in the destination of each source entity number that is carried over.
    var numberMap: [Int: Int] { Self.numberMap(of: carriers) }

    /// The same of those that become `entity` or one below it: an entity may become one in each of several tables.
    func numberMap(into entity: String) -> [Int: Int] {
        guard let entity = destination.model.entity(entity) else { return [:] }
        return Self.numberMap(of: carriers.filter { destination.model.isKind($0.destination, of: entity) })
    }

    private static func numberMap(of contributions: [Contribution]) -> [Int: Int] {
        Dictionary(
            contributions.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
    }

    /// The source numbers of the entities at or below `sourceEntity` that become `destinationEntity` or one below it;
    /// nil when that is all of them, so that nobody has to ask.
    func numbersThatFit(sourceEntity: String, destinationEntity: String) -> [Int]? {
        guard let from = source.model.entity(sourceEntity), let to = destination.model.entity(destinationEntity) else {
            return []
        }
        let all = Set(source.numbers(ofEntityAndDescendants: from))
        let fitting = carriers.filter {
            all.contains($0.sourceNumber) && destination.model.isKind($0.destination, of: to)
        }.map(\.sourceNumber)
        let mayHaveRows = ([from] + source.model.descendants(of: from)).filter { !$0.isAbstract }
        return mayHaveRows.allSatisfy { fitting.contains(source.entityNumbers[$0.name] ?? -1) } ? nil : fitting.sorted()
    }

    func rows(of entities: [String]) -> Int64 { entities.reduce(0) { $0 + rowCounts[$1, default: 0] } }
}

extension [Int] {
    /// `1, 2, 3`, for a list in SQL.
    var sqlList: String { map(String.init).joined(separator: ", ") }
}
