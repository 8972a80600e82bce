/// The type of an entity mapping, by what it does, with the numbers of `NSEntityMappingType`.
public enum EntityMappingType: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    /// A migration policy makes the objects.
    case custom = 1
    /// A new entity, without objects.
    case add = 2
    /// The objects are dropped.
    case remove = 3
    /// The entity stays as it is, or gains properties.
    case copy = 4
    /// Properties of the entity leave or change.
    case transform = 5
}
