import MoultBasics

/// Contents of a store that a migration does not carry over to the new version, with their count. They are objects,
/// values, links, changes of persistent history, or an app's own additions to the database.
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
        /// A table that is not Core Data's, counted by its rows.
        case table
        /// An index that is not Core Data's.
        case index
        /// A trigger that is not Core Data's.
        case trigger
        /// A view.
        case view
        /// A column that an app added to one of Core Data's tables.
        case column
        /// A constraint that an app added to one of Core Data's tables, or one on its own table that refers to them.
        case constraint
    }

    /// The reason for a loss.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The new version does not have the entity, or does not store the property.
        case removed
        /// Both versions have the entity, but the new one has it in a configuration for another store.
        case otherConfiguration
        /// Both versions have it, but nothing carries it over.
        case dropped
        /// The relationship becomes to-one and keeps one destination; or it becomes a to-many without inverse, and each
        /// destination keeps one object that refers to it.
        case narrowed
        /// The entity of the linked objects is not a possible destination of the relationship in the new version.
        case redirected
        /// A join table contains the link more than once; one copy is kept.
        case repeated
        /// The values cannot be converted; the objects get the default value instead.
        case notConvertible
        /// The app's own code dropped the objects, or created objects that cannot have the links.
        case byCode
        /// The column or table does not belong to the model.
        case unexplained
        /// It is incompatible with the tables of the new version.
        case conflict
    }

    /// The kind of content that is lost.
    public var kind: Kind
    /// The reason for the loss.
    public var reason: Reason
    /// The entity, by its name in the older version; the table for ``Reason/unexplained``, ``Kind/column`` and
    /// ``Kind/constraint``; the table, index, trigger or view for ``Reason/conflict``.
    public var entityName: String
    /// The property, by its name in the older version, or the column; nil for objects. It has the name in the newer
    /// version if its values or links come from no single property of the older one.
    public var propertyName: String?
    /// The number of lost items; nil if not counted yet, as in a later pass's plan, or not countable.
    public var count: Int64?
    /// The name of the version that no longer has it.
    public var version: String
    /// A detail of the reason, which depends on its kind. It is the name of the code that dropped the objects, and why;
    /// the type that values cannot be converted to; SQLite's reason for ``Reason/conflict``; the configuration of the
    /// entity for ``Reason/otherConfiguration``; the cause of ``Reason/narrowed`` if it is not a to-one; the text of a
    /// constraint, without its literals.
    public var detail: String?
    /// Whether the app's own code read the values before they were lost.
    public var isReadByCode = false

    /// Whether both versions have the entity or the property. Such a loss must be declared unless code has read the
    /// values.
    package var isInBoth = false
    /// Whether a migration policy that has yet to run may read it or carry it over.
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

    /// Whether the values still exist, because a deferred migration leaves them for later.
    package var isPutOff: Bool { count == nil && [.rows, .values, .links, .order].contains(kind) }

    /// The place of the loss, as `Entity.property` or `Entity`.
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
            return "\(amount) of \(place) \(areLost): no equal value of type \(detail ?? "the new attribute") exists, "
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
    /// The amount as `40 values`, or `All values` if not counted.
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

    /// Returns nil if the JSON is not a loss that this version of Moult knows.
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

    /// Reads a list of losses and skips elements that are not losses.
    package static func list(_ json: JSONValue?) -> [MigrationLoss] {
        (json?.array ?? []).compactMap(MigrationLoss.init)
    }
}

/// The losses that an app accepts. These are values of properties in both versions that a stage drops without any code
/// having read them, and objects of entities in both versions that no entity mapping takes.
///
///     registry.acceptedLosses = ["Habit.target"]
///
/// A stage with such a loss is refused unless the loss is accepted here. Contents that the new version no longer has
/// are deleted and counted. `moult migrate`, `Project`, and a container that does not have the older version itself
/// refuse that too, unless it is accepted here or a stage or a mapping model leads to the new version.
public struct AcceptedLosses: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The accepted places; nil for all.
    private var places: Set<String>?

    private init(places: Set<String>?) { self.places = places }

    /// - Parameter places: `Entity.property` or `Entity`, by their names in the older version. An entity includes its
    ///   properties, and a composite attribute its elements.
    public init(_ places: some Sequence<String>) { self.init(places: Set(places)) }

    /// Creates the accepted losses from an array literal: `["Habit.target"]`.
    public init(arrayLiteral places: String...) { self.init(places) }

    /// No losses, the default.
    public static let none = AcceptedLosses(places: [])
    /// All losses.
    public static let all = AcceptedLosses(places: nil)

    /// Adds the losses that `other` accepts.
    public mutating func formUnion(_ other: AcceptedLosses) {
        guard let places, let others = other.places else {
            self = .all
            return
        }
        self.places = places.union(others)
    }

    /// Whether a loss is accepted.
    public func contains(_ loss: MigrationLoss) -> Bool {
        guard let places else { return true }
        let property = loss.propertyName.map { "\(loss.entityName).\($0.prefix { $0 != "." })" }
        return places.contains(loss.place) || places.contains(loss.entityName) || property.map(places.contains) == true
    }
}

extension AcceptedLosses: Codable {
    /// Encodes the places in byte order, or `"all"`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let places {
            try container.encode(places.inByteOrder())
        } else {
            try container.encode("all")
        }
    }

    /// - Throws: `DecodingError` unless it finds an array of places or `"all"`.
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
