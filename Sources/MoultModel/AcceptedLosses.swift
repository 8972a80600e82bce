/// The losses that an app accepts: values of properties that both versions have, which a stage drops without any code
/// having read them, and objects of entities that both have and no entity mapping takes.
///
///     registry.acceptedLosses = ["Habit.target"]
///
/// Without this such a stage is refused. What the new version does not have is deleted, and counted: `moult migrate`,
/// `Project`, and a container that does not have the older version itself refuse that too, unless it is accepted here or
/// a stage or a mapping model leads to the new version.
public struct AcceptedLosses: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Nil for all.
    private var places: Set<String>?

    private init(places: Set<String>?) { self.places = places }

    /// - Parameter places: `Entity.property` or `Entity`, as the older version calls them; an entity stands for its
    ///   properties too, a composite attribute for its elements.
    public init(_ places: some Sequence<String>) { self.init(places: Set(places)) }

    /// The losses at these places, written as an array: `["Habit.target"]`.
    public init(arrayLiteral places: String...) { self.init(places) }

    /// Nothing, the default.
    public static let none = AcceptedLosses(places: [])
    /// Whatever is lost.
    public static let all = AcceptedLosses(places: nil)

    /// Accepts what the other accepts, too.
    public mutating func formUnion(_ other: AcceptedLosses) {
        guard let places, let others = other.places else {
            self = .all
            return
        }
        self.places = places.union(others)
    }

    /// Whether a loss is among those that are accepted.
    public func contains(_ loss: MigrationLoss) -> Bool {
        guard let places else { return true }
        let property = loss.propertyName.map { "\(loss.entityName).\($0.prefix { $0 != "." })" }
        return places.contains(loss.place) || places.contains(loss.entityName)
            || property.map(places.contains) == true
    }
}
