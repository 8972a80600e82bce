import Moult
import MoultBasics
import MoultModel
import MoultPlan

/// A check of whether Core Data with a model and SwiftData with its types can open the same store. It compares the
/// version hashes of each entity, and gives the reasons for a difference.
package struct Coexistence: Sendable {
    package struct Entity: Sendable {
        package let name: String
        package let isEqual: Bool
        /// The differences, each with the code to write; for an equal entity, at most a note.
        package let reasons: [Finding]
    }

    /// The entities of the model and the types, in byte order of their names.
    package let entities: [Entity]
    package var isEqual: Bool { entities.allSatisfy(\.isEqual) }

    /// - Parameters:
    ///   - model: the model for Core Data.
    ///   - types: the model that SwiftData derives from the app's types; nil for the types that ``SwiftDataModels``
    ///     generates.
    /// - Throws: `modelInvalid` if two names of the model become the same identifier.
    package init(of model: ModelVersion, with types: ModelVersion? = nil) throws {
        let form = try SwiftDataForm(of: model.model)
        let best = ModelVersion(names: ["SwiftData"], model: form.model)
        let types = types ?? best
        let changes = try ModelDiff(from: model, to: types).hashed.filter { !Self.isOwnInverse($0, in: model.model) }
        let unspeakable = Set(try ModelDiff(from: model, to: best).hashed.map(Place.init))
        let source = SwiftDataSource(form)
        let names = Set(model.hashes.entities.keys).union(types.hashes.entities.keys)
        entities = names.inByteOrder().map { name in
            let isEqual = model.hashes.entities[name] == types.hashes.entities[name]
            let uncertain = model.hashes.uncertain[name] ?? types.hashes.uncertain[name]
            var reasons = uncertain.map { [Self.uncertainty($0, of: name)] } ?? []
            if !isEqual {
                let own = changes.filter { $0.entity == name }
                reasons += own.map { Self.reason($0, canBeWritten: !unspeakable.contains(Place($0)), source) }
                if own.isEmpty { reasons.append(Self.inherited(name, model, types)) }
            }
            return Entity(name: name, isEqual: isEqual, reasons: reasons)
        }
    }

    /// Whether a change only concerns a relationship that is its own inverse. Its hash does not include the inverse,
    /// and SwiftData does not name it.
    private static func isOwnInverse(_ change: ModelChange, in model: ManagedObjectModel) -> Bool {
        change.kind == .inverse && change.new == nil && change.old == change.member
            && change.entity.flatMap(model.entity)?.relationship(change.member ?? "")?.destinationEntityName
                == change.entity
    }

    private struct Place: Hashable {
        let place: String
        let kind: ModelChange.Kind
        init(_ change: ModelChange) { (place, kind) = (change.place, change.kind) }
    }

    // MARK: - Reasons

    private static func uncertainty(_ reason: String, of name: String) -> Finding {
        Finding(
            code: "uncertain-hash", severity: .note, place: name,
            message: "The version hash is not known for certain: \(reason).",
            remedy: "Open a copy of the store with SwiftData before you rely on it.")
    }

    private static func inherited(_ name: String, _ model: ModelVersion, _ types: ModelVersion) -> Finding {
        let parents = model.model.entity(name).map(model.model.superentities) ?? []
        let parent = parents.first { model.hashes.entities[$0.name] != types.hashes.entities[$0.name] }
        return Finding(
            code: "parent-differs", severity: .error, place: name,
            message: parent.map { "\(name) inherits from \($0.name), which differs." } ?? "\(name) differs.",
            remedy: parent.map { "Make \($0.name) equal." } ?? "Compare the two with \(.difference).")
    }

    private static func reason(_ change: ModelChange, canBeWritten: Bool, _ source: SwiftDataSource) -> Finding {
        Finding(
            code: change.kind.rawValue, severity: .error, place: change.place, message: sentence(change),
            remedy: canBeWritten
                ? whatToWrite(change, source) ?? "Make the types agree with the model." : whatToChange(change.kind))
    }

    private static func sentence(_ change: ModelChange) -> String {
        let place = change.place
        return switch change.kind {
        case .entityAdded: "The types have a class \(place), and the model has no such entity."
        case .entityRemoved: "The model has an entity \(place), and the types have no such class."
        case .attributeAdded, .relationshipAdded: "The types have a property \(place), and the model has not."
        case .attributeRemoved, .relationshipRemoved: "The model has a property \(place), and the types have not."
        case .constraintAdded:
            "The types have a uniqueness constraint on \(change.member ?? place), and the model has not."
        case .constraintRemoved:
            "The model has a uniqueness constraint on \(change.member ?? place), and the types have not."
        case .optional, .transient, .abstract, .order, .cardinality, .externalStorage, .preservesValueInHistory:
            "\(place) is \(change.old ?? "") in the model and \(change.new ?? "") in the types."
        default:
            "\(place): the \(change.kind.subject) is \(change.old ?? "none") in the model and "
                + "\(change.new ?? "none") in the types."
        }
    }

    /// Returns a sentence with the declaration that makes the class match the model.
    private static func whatToWrite(_ change: ModelChange, _ source: SwiftDataSource) -> String? {
        guard let entity = change.entity else { return nil }
        switch change.kind {
        case .entityAdded: return "Leave the class out of the schema, or add the entity to the model."
        case .attributeAdded, .relationshipAdded: return "Remove it from the class, or mark it @Transient."
        case .constraintAdded: return "Remove .unique or #Unique for it."
        case .entityRemoved, .parent, .constraintRemoved, .entityRenamed:
            return source.classDeclaration(of: entity).map { "Write: \($0)" }
        default:
            return change.member.flatMap { source.declaration(of: $0, in: entity) }.map { "Write: \($0)" }
        }
    }

    /// Returns the change to make in the model if SwiftData's types cannot express it.
    private static func whatToChange(_ kind: ModelChange.Kind) -> String {
        switch kind {
        case .order: "SwiftData keeps no order of a relationship. Turn off Ordered in the model."
        case .derivation: "SwiftData has no derived attributes. Make it a plain attribute in the model."
        case .abstract: "SwiftData has no abstract entities. Turn off Abstract Entity in the model."
        case .modifier: "SwiftData has no hash modifier of a class. Remove it from the model."
        case .inverse: "SwiftData pairs the two relationships. Make them inverses in the model."
        case .attributeRenamed, .relationshipRenamed, .entityRenamed, .entityAdded, .entityRemoved:
            "A SwiftData class cannot have this name. Rename it in the model."
        case .attributeRemoved: "SwiftData has no property of this type. Give it another type in the model."
        case .constraintRemoved: "SwiftData's constraints name properties of the class itself. Move it in the model."
        default: "SwiftData's types cannot say this. Change the model, which migrates the store."
        }
    }
}

extension ModelChange.Kind {
    /// The subject of a change, in plain words.
    fileprivate var subject: String {
        switch self {
        case .maximumCount: "maximum count"
        case .minimumCount: "minimum count"
        case .modifier: "hash modifier"
        case .attributeRenamed, .relationshipRenamed, .entityRenamed: "name"
        default:
            rawValue.replacing("-changed", with: "").replacing("-", with: " ")
        }
    }
}

/// A report, entity by entity, on whether Core Data and SwiftData can open the same store.
package struct CoexistenceReport: ToolAnswer {
    private let report: Coexistence
    private let names: (model: String, types: String)

    /// - Parameter types: the versions of the types; nil for the generated classes.
    /// - Throws: `usage` if the types have no version.
    package init(of model: ModelVersion, with types: ModelVersions?) throws {
        let types = try types.map { versions in
            guard !versions.versions.isEmpty else { throw MigrationError.wrongRequest("The types have no version.") }
            return versions.versions[try versions.target(named: nil)]
        }
        report = try Coexistence(of: model, with: types)
        names = (model.name, types?.name ?? "the generated classes")
    }

    package var isEqual: Bool { report.isEqual }

    package var document: JSONValue {
        [
            "format": 1, "model": .string(names.model), "types": .string(names.types), "equal": .bool(report.isEqual),
            "entities": .array(
                report.entities.map {
                    [
                        "name": .string($0.name), "equal": .bool($0.isEqual),
                        "reasons": .array($0.reasons.map(\.document)),
                    ]
                }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = [style.bold("\(names.model.printable) and \(names.types.printable)")]
        for entity in report.entities {
            lines.append(
                "  \(entity.isEqual ? style.green("equal") : style.red("different"))  \(entity.name.printable)")
            for reason in entity.reasons {
                lines += ["    \(reason.message.printable)", "      \(reason.remedy.printable)"]
            }
        }
        let equal = report.entities.count { $0.isEqual }
        let count = Quantity.count(report.entities.count, "entity is", plural: "entities are")
        let verdict =
            report.isEqual
            ? "SwiftData opens a store of this model, and Core Data opens it again."
            : "SwiftData does not open a store of this model without a migration."
        return lines + ["", "\(equal) of \(count) equal. \(verdict)"]
    }
}
