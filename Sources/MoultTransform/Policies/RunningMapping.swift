import MoultModel
import MoultObjects
import MoultPlan

/// One entity mapping of a run, with the policy that makes its objects where it has one.
final class RunningMapping {
    /// Its place among the entity mappings of the pass.
    let position: Int
    let mapping: ResolvedEntityMapping
    /// As policies are shown it.
    let entityMapping: EntityMapping
    // A run belongs to one thread, and nobody changes what is unchecked here while it is read, once for each row.
    /// Nil for statements, and when the run is over.
    var policy: EntityMigrationPolicy?
    @exclusivity(unchecked) var counts: InstanceCounts
    /// The number of the destination entity.
    let destinationNumber: Int64?
    /// Whether its objects keep the keys of their source objects.
    let keepsKeys: Bool
    /// The destination entity; known when its instances are made.
    @exclusivity(unchecked) var entity: DestinationEntity?
    /// The plan of the values that a new object takes from the source's row, with the reader of that row; both are made
    /// when the mapping's instances are.
    @exclusivity(unchecked) var plan: InstancePlan?
    @exclusivity(unchecked) var reader: InstanceReader?
    /// The positions of the to-ones that its rows take with the keys of source objects.
    var carried: Set<Int> = []
    /// The relationships that only this mapping fills, which a policy that does not ask for them does not get.
    var ownRelationships: [String] = []
    /// Whether a new object has taken what the mapping's expressions say.
    @exclusivity(unchecked) var hasMadeInstances = false
    /// Whether the policy has asked for the mapping's relationships.
    @exclusivity(unchecked) var hasMadeRelationships = false

    var policyName: String { mapping.policy ?? "" }

    init(
        _ mapping: ResolvedEntityMapping, at position: Int, policy: EntityMigrationPolicy?, destinationNumber: Int64?,
        keepsKeys: Bool
    ) {
        self.position = position
        self.mapping = mapping
        self.policy = policy
        self.destinationNumber = destinationNumber
        self.keepsKeys = keepsKeys
        entityMapping =
            mapping.written
            ?? EntityMapping(
                from: mapping.sourceEntityName, to: mapping.destinationEntityName,
                name: mapping.name.isEmpty ? nil : mapping.name, type: policy == nil ? .undefined : .custom,
                sourcePredicate: mapping.predicate, entityMigrationPolicyClassName: mapping.policy)
        counts = InstanceCounts(
            mapping: entityMapping.name, policy: mapping.policy ?? "", entityName: mapping.sourceEntityName)
    }
}
