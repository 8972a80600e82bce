import MoultBasics

/// Contents of a store that a migration does not carry into the new version, with their count: objects, values, links,
/// changes of persistent history, and what an app has put next to Core Data's own tables.
public struct MigrationLoss: Sendable, Hashable, CustomStringConvertible {
    /// The kind of content that is lost.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Objects of an entity.
        case rows
        /// Values of an attribute.
        case values
        /// Links of a relationship.
        case links
        /// The order of a relationship's links; the links are kept.
        case order
        /// Changes of an entity in persistent history.
        case history
        /// A table next to Core Data's own, counted by its rows.
        case table
        /// An index next to Core Data's own.
        case index
        /// A trigger next to Core Data's own.
        case trigger
        /// A view.
        case view
        /// A column that an app added to Core Data's own table.
        case column
        /// A constraint that an app added to Core Data's own table, or that its own table has on Core Data's.
        case constraint
    }

    /// The reason for a loss.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The new version does not have the entity, or does not store the property.
        case removed
        /// Both versions have the entity, and the new one has it in another configuration, whose objects are in another
        /// store.
        case otherConfiguration
        /// Both versions have it, and nothing carries it over.
        case dropped
        /// The relationship becomes to-one and keeps one destination; or it becomes a to-many without inverse, and each
        /// destination keeps one object that leads to it.
        case narrowed
        /// The objects that the links lead to are of no entity that the relationship leads to in the new version.
        case redirected
        /// A join table holds the link more than once; it is kept once.
        case repeated
        /// The values cannot be converted; the objects get the default value.
        case notConvertible
        /// The app's own code dropped the objects, or made objects that cannot take the links.
        case byCode
        /// A column or a table that belongs to nothing of the model.
        case unexplained
        /// It does not work with the tables of the new version.
        case conflict
    }

    /// The kind of content that is lost.
    public var kind: Kind
    /// The reason for the loss.
    public var reason: Reason
    /// The entity, by its name in the older version; the table for ``Reason/unexplained``, ``Kind/column`` and
    /// ``Kind/constraint``; the table, index, trigger or view for ``Reason/conflict``.
    public var entityName: String
    /// The property, or the column; nil for objects.
    public var propertyName: String?
    /// Nil if it has not been counted yet, as in the plan of a later pass, and for what has nothing to count.
    public var count: Int64?
    /// The name of the version that does not have it any more.
    public var version: String
    /// The name of the code that dropped the objects, and why; the type that values cannot be converted to; SQLite's
    /// reason for ``Reason/conflict``; the configuration that has the entity for ``Reason/otherConfiguration``; why links are ``Reason/narrowed`` where no to-one is the reason; the words of a constraint, without its literals.
    public var detail: String?
    /// Whether the app's own code read the values before they left.
    public var isReadByCode = false

    /// Whether both versions have the entity or the property, so that the loss has to be declared where no code has
    /// read the values.
    package var isInBoth = false
    /// Whether a migration policy that has still to run may read or carry it.
    package var isLeftToPolicy = false

    package init(
        _ kind: Kind, _ reason: Reason, entity: String, property: String? = nil, count: Int64? = nil,
        version: String = "", detail: String? = nil
    ) {
        self.kind = kind
        self.reason = reason
        entityName = entity
        propertyName = property
        (self.count, self.version, self.detail) = (count, version, detail)
    }

    /// Whether the values are still there, because a deferred migration leaves them for later.
    package var isPutOff: Bool { count == nil && [.rows, .values, .links, .order].contains(kind) }

    /// `Entity.property` or `Entity`.
    public var place: String { [entityName, propertyName].compactMap(\.self).joined(separator: ".") }
}

extension MigrationLoss {
    /// The same as ``sentence``.
    public var description: String { sentence }

    /// The loss and its reason, in one sentence.
    public var sentence: String {
        let them = count == 1 ? "it" : "them"
        let read = isReadByCode ? " The stage's own code has read \(them)." : ""
        switch (kind, reason) {
        case (.table, _), (.index, _), (.trigger, _), (.view, _):
            let rows = count.map { $0 == 0 ? "" : " with its \(Quantity.count($0, unit))" } ?? ""
            let why = detail ?? "the new version has no place for it"
            return "The \(kind.rawValue) \(place) is dropped\(rows): \(why)."
        case (.column, .conflict):
            return "The generated column \(place) is dropped: \(detail ?? "it does not fit the new table")."
        case (.column, _): return "The column \(place) is dropped: it belongs to no property of the model."
        case (.constraint, .conflict):
            return "A foreign key of the table \(place) no longer works: \(detail ?? "it leads nowhere")."
        case (.constraint, _):
            return "The constraint \(detail ?? "") of \(place) is dropped: the model does not ask for it."
        case (.history, _):
            return "\(amount) of \(place) in persistent history \(areDeleted): the entity is not carried over."
        case (.rows, .removed): return "\(amount) of \(place) \(areDeleted): \(newVersion) does not have the entity."
        case (.rows, .otherConfiguration):
            return "\(amount) of \(place) \(areDeleted): in \(newVersion) the entity is in "
                + "\(detail.map { "the configuration \($0)" } ?? "no configuration"), not in that of the store."
        case (.rows, .unexplained):
            return "\(amount) of the table \(place) \(areDeleted): no entity of the model has the table."
        case (.rows, .byCode): return "\(amount) of \(place) \(areDeleted) by \(detail ?? "the app's own code")."
        case (.links, .byCode):
            return "\(amount) of \(place) \(areLost): \(detail ?? "the app's own code has dropped \(them)")."
        case (.rows, _): return "\(amount) of \(place) \(areDeleted): no entity mapping takes \(them)."
        case (.order, _): return "The order of \(lowerAmount) of \(place) is lost: the relationship becomes unordered."
        case (_, .narrowed):
            let why = detail ?? "the relationship becomes to-one and keeps one destination"
            return "\(amount) of \(place) \(areLost): \(why)."
        case (_, .redirected):
            return "\(amount) of \(place) \(areLost): the objects they lead to are not of the relationship's new "
                + "destination."
        case (_, .repeated):
            return "\(amount) of \(place) \(areDeleted): the store holds \(them) more than once, and one of each stays."
        case (_, .notConvertible):
            return "\(amount) for \(place) \(areLost): no equal value of type \(detail ?? "the new attribute") exists, "
                + "and the default value takes \(count == 1 ? "its" : "their") place."
        case (_, .unexplained):
            return
                "\(amount) in the column \(propertyName ?? "") of \(entityName) \(areDeleted): the column belongs to "
                + "no property of the model."
        case (_, .removed), (_, .otherConfiguration):
            return "\(amount) of \(place) \(areDeleted): \(newVersion) does not store the \(noun).\(read)"
        case (_, .dropped), (_, .byCode), (_, .conflict):
            return "\(amount) of \(place) \(areLost): both versions have the \(noun), and nothing carries the "
                + "\(kind.rawValue) over.\(read)"
        }
    }

    private var newVersion: String { version.isEmpty ? "the new version" : version }
    private var noun: String { kind == .values ? "attribute" : "relationship" }
    private var unit: String {
        switch kind {
        case .rows: reason == .unexplained ? "row" : "object"
        case .values: "value"
        case .links, .order: "link"
        case .history: "change"
        case .table: "row"
        case .index, .trigger, .view, .column, .constraint: kind.rawValue
        }
    }
    /// `40 values`, or `All values` where they were not counted.
    package var amount: String { count.map { Quantity.count($0, unit) } ?? "All \(unit)s" }
    private var lowerAmount: String { count == nil ? "all \(unit)s" : amount }
    private var areDeleted: String { count == 1 ? "is deleted" : "are deleted" }
    private var areLost: String { count == 1 ? "is lost" : "are lost" }

    // MARK: - JSON

    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "reason": .string(reason.rawValue), "entity": .string(entityName),
            "member": JSONValue(propertyName), "count": count.map(JSONValue.integer) ?? .null,
            "version": .string(version), "detail": JSONValue(detail), "readByCode": .bool(isReadByCode),
            "inBoth": .bool(isInBoth), "leftToPolicy": .bool(isLeftToPolicy), "sentence": .string(sentence),
        ]
    }

    /// Nil for what is none, such as one of a later Moult.
    package init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init), let entity = json["entity"]?.string,
            let reason = json["reason"]?.string.flatMap(Reason.init)
        else { return nil }
        self.init(
            kind, reason, entity: entity, property: json["member"]?.string, count: json["count"]?.integer,
            version: json["version"]?.string ?? "", detail: json["detail"]?.string)
        isReadByCode = json["readByCode"]?.bool == true
        isInBoth = json["inBoth"]?.bool == true
        isLeftToPolicy = json["leftToPolicy"]?.bool == true
    }

    /// The losses of a list, those that are none left out.
    package static func list(_ json: JSONValue?) -> [MigrationLoss] {
        (json?.array ?? []).compactMap(MigrationLoss.init)
    }
}

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
        return places.contains(loss.place) || places.contains(loss.entityName) || property.map(places.contains) == true
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
