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

extension AcceptedLosses: Codable {
    /// The places in byte order, or `"all"`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let places {
            try container.encode(places.sorted { $0.precedesInByteOrder($1) })
        } else {
            try container.encode("all")
        }
    }

    /// - Throws: `DecodingError` for what is neither an array of places nor `"all"`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let places = try? container.decode([String].self) {
            self.init(places)
        } else if try container.decode(String.self) == "all" {
            self = .all
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The losses are an array of places, or \"all\".")
        }
    }
}
