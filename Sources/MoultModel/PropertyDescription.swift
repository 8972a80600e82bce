/// The members that attributes, relationships and fetched properties have in common: `NSPropertyDescription`.
public protocol PropertyDescription: Sendable {
    var name: String { get set }
    var isOptional: Bool { get set }
    /// Whether the store keeps nothing of it.
    var isTransient: Bool { get set }
    /// The property's name in an earlier version.
    var renamingIdentifier: String? { get set }
    var versionHashModifier: String? { get set }
    var userInfo: [String: String] { get set }
}

extension AttributeDescription: PropertyDescription {}
extension RelationshipDescription: PropertyDescription {}
extension FetchedPropertyDescription: PropertyDescription {}
