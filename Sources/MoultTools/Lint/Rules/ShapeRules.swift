import MoultBasics
import MoultModel
import MoultModelFiles

/// The rules about a single version, for errors and risks in it.
enum ShapeRules {
    static func notRead(_ subject: LintSubject) -> [LintMatch] {
        let others = ["current-version-missing", ModelBundle.withoutContents]
        return subject.readerFindings.filter { !others.contains($0.code) }.map { finding in
            let place = Place(finding.place)
            let version = subject.versions.last { $0.file == place.file }
            var match = LintMatch(
                version?.name ?? "", place.entity, place.member, "\(finding.message) (\(finding.code))",
                remedy: finding.remedy.isEmpty
                    ? "Check that Moult may leave it out; if Core Data reads it, report it." : finding.advice)
            match.severity = finding.severity
            if let line = place.line { match.line = (place.file, line) }
            return match
        }
    }

    /// The parts of a place such as `path:12: Post.title`.
    private struct Place {
        var file: String
        var line: Int?
        var entity: String?
        var member: String?

        init(_ text: String) {
            file = text
            guard let end = text.firstRange(of: "/contents:") else { return }
            file = text[..<end.lowerBound] + "/contents"
            let rest = text[end.upperBound...]
            line = Int(rest.prefix { $0.isNumber })
            guard let blank = rest.firstRange(of: ": ") else { return }
            (entity, member) = LintMatch.parts(of: String(rest[blank.upperBound...]))
        }
    }

    static func references(_ version: LintVersion) -> [LintMatch] {
        let model = version.model
        var matches: [LintMatch] = []
        func add(_ entity: String?, _ member: String?, _ message: String, _ remedy: Remedy) {
            matches.append(LintMatch(version.name, entity, member, message, remedy: remedy))
        }
        for entity in model.entities {
            let known = Set(model.lineage(of: entity).flatMap(\.propertyNames))
            func isKnown(_ name: String) -> Bool {
                known.contains(name) || name.split(separator: ".").first.map { known.contains(String($0)) } == true
            }
            let remedy: Remedy = "Name a property of \(entity.name), or remove it."
            for index in entity.fetchIndexes {
                for case .property(let name) in index.elements.map(\.subject) where !isKnown(name) {
                    add(
                        entity.name, index.name,
                        "The fetch index \(index.name) of \(entity.name) names \(name), which is not a property of it.",
                        remedy)
                }
            }
            for constraint in entity.uniquenessConstraints {
                for name in constraint where !isKnown(name) {
                    add(
                        entity.name, constraint.joined(separator: ", "),
                        "A uniqueness constraint of \(entity.name) names \(name), which is not a property of it.",
                        remedy)
                }
            }
            for name in entity.compoundIndexes.flatMap({ $0 }) where !isKnown(name) {
                add(
                    entity.name, nil,
                    "A compound index of \(entity.name) names \(name), which is not a property of it.", remedy)
            }
            for property in entity.fetchedProperties {
                guard let name = property.destinationEntityName, model.entity(name) == nil else { continue }
                add(
                    entity.name, property.name,
                    "The fetched property \(entity.name).\(property.name) finds \(name), which is not in the model.",
                    "Name an entity of the model.")
            }
        }
        for configuration in model.configurations {
            for name in configuration.entityNames where model.entity(name) == nil {
                add(
                    nil, configuration.name,
                    "The configuration \(configuration.name) has the entity \(name), which is not in the model.",
                    "Remove <memberEntity name=\"\(name.escapedForXML)\"/>, or add the entity.")
            }
        }
        for request in model.fetchRequestTemplates where model.entity(request.entityName) == nil {
            add(
                nil, request.name,
                "The fetch request \(request.name) finds \(request.entityName), which is not in the model.",
                "Name an entity of the model.")
        }
        return matches
    }

    /// Returns matches for the errors that `moult compile` reports apart from references, such as invalid names and
    /// predicates.
    static func notCompiled(_ version: LintVersion) -> [LintMatch] {
        guard let file = version.file, file.hasSuffix("/contents") else { return [] }
        return ModelFault.errors(inSource: file).filter { $0.kind != .reference }.map { fault in
            var match = LintMatch(
                version.name, nil, nil, fault.message,
                remedy: "Correct it; \(.compile, .anyModel, .dryRun) lists every such error.")
            match.line = (fault.file, fault.line)
            return match
        }
    }

    static func inverses(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { $0.inverseName == nil && !$0.isTransient }.map { entity, relationship in
            LintMatch(
                version.name, entity, relationship.name,
                "\(entity).\(relationship.name) has no inverse. Core Data does not keep the two ends equal, and a deletion "
                    + "may leave a reference to nothing.",
                remedy:
                    "Add a relationship to \(entity) in \(relationship.destinationEntityName), and name both as each "
                    + "other's inverse.")
        }
    }

    static func cascades(_ version: LintVersion) -> [LintMatch] {
        relationships(version) { $0.deleteRule == .cascade && !$0.isTransient }.compactMap { entity, relationship in
            guard let inverse = version.model.inverse(of: relationship), inverse.deleteRule == .cascade else {
                return nil
            }
            let other = "\(relationship.destinationEntityName).\(inverse.name)"
            let own = "\(entity).\(relationship.name)"
            // Report the pair once, at the end whose name sorts last.
            guard own == other || other.precedesInByteOrder(own) else { return nil }
            return LintMatch(
                version.name, entity, relationship.name,
                "\(own) and its inverse \(other) both have the delete rule Cascade. Deleting one object deletes every "
                    + "object that is connected with it.",
                remedy:
                    "Choose Nullify for the end that does not own the other: \(markup: "deletionRule=\"Nullify\"", "Nullify")."
            )
        } + cascadeCycles(version)
    }

    /// Returns matches for entities that own each other in a circle. A tree of one entity does not count, and neither
    /// does a pair of inverses, which is reported separately.
    private static func cascadeCycles(_ version: LintVersion) -> [LintMatch] {
        let model = version.model
        let owners = model.entities.map { entity in
            (
                entity.name,
                model.relationships(of: entity).filter { relationship in
                    relationship.deleteRule == .cascade && !relationship.isTransient
                        && relationship.destinationEntityName != entity.name
                        && model.inverse(of: relationship)?.deleteRule != .cascade
                }
            )
        }
        let owned = Dictionary(owners) { first, _ in first }
        var reported: Set<Set<String>> = []
        return model.entities.compactMap { entity in
            guard let way = shortestWay(from: entity.name, backTo: entity.name, owned, model),
                reported.insert(Set(way.map(\.entity))).inserted, let first = way.first
            else { return nil }
            let places = way.map { "\($0.entity).\($0.relationship)" }
            var match = LintMatch(
                version.name, first.entity, first.relationship,
                "\(places.joined(separator: ", ")) have the delete rule Cascade and lead in a circle. Deleting one object may "
                    + "delete others of its own entity.",
                remedy: "Check that each object is to be deleted with the one that leads to it, or choose Nullify.")
            match.severity = .note
            return match
        }
    }

    private typealias Step = (entity: String, relationship: String)

    /// Returns the shortest path of relationships from an entity back to itself or to one of its parents, found breadth
    /// first.
    private static func shortestWay(
        from start: String, backTo goal: String, _ owned: [String: [RelationshipDescription]],
        _ model: ManagedObjectModel
    ) -> [Step]? {
        var seen: Set<String> = []
        var ways: [(entity: String, way: [Step])] = [(start, [])]
        while !ways.isEmpty {
            let (entity, way) = ways.removeFirst()
            for relationship in owned[entity] ?? [] {
                guard let destination = model.entity(relationship.destinationEntityName) else { continue }
                let next = way + [(entity, relationship.name)]
                for kind in [destination] + model.descendants(of: destination) {
                    if kind.name == goal { return next }
                    if seen.insert(kind.name).inserted { ways.append((kind.name, next)) }
                }
            }
        }
        return nil
    }

    static func transformables(_ version: LintVersion) -> [LintMatch] {
        let insecure: Set<String> = [
            "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSUnarchiveFromData",
        ]
        return version.model.entities.flatMap { entity in
            entity.attributes.filter { attribute in
                attribute.type == .transformable && attribute.isStored
                    && attribute.valueTransformerName.map(insecure.contains) ?? true
            }.map { attribute in
                let name = attribute.valueTransformerName ?? "the default transformer"
                return LintMatch(
                    version.name, entity.name, attribute.name,
                    "\(entity.name).\(attribute.name) is archived by \(name), which does not use secure coding.",
                    remedy: "Use NSSecureUnarchiveFromData, or a subclass of it that lists the classes.",
                    edit: .init(
                        ("valueTransformerName", "NSSecureUnarchiveFromData"),
                        choice: "Moult does not know the classes of its values. NSSecureUnarchiveFromData reads only "
                            + "collections, strings, numbers, dates, data, URLs and UUIDs."))
            }
        }
    }

    static func reservedNames(_ version: LintVersion) -> [LintMatch] {
        version.model.entities.flatMap { entity in
            entity.propertyNames.filter(reserved.contains).map { name in
                LintMatch(
                    version.name, entity.name, name,
                    "\(entity.name).\(name) has the name of a property of NSManagedObject or NSObject.",
                    remedy:
                        "Rename it in a new version, with the renaming identifier \(markup: "elementID=\"\(name)\"", name)."
                )
            }
        }
    }

    /// The names of members of `NSManagedObject` and `NSObject`, which have another meaning.
    private static let reserved: Set<String> = [
        "class", "superclass", "self", "hash", "description", "debugDescription", "zone", "isProxy", "isa",
        "objectID", "entity", "managedObjectContext", "hasChanges", "isInserted", "isUpdated", "isDeleted", "isFault",
        "hasPersistentChangedValues", "faultingState", "observationInfo", "changedValues",
    ]

    static func sameColumns(_ version: LintVersion) -> [LintMatch] {
        version.model.entities.flatMap { entity -> [LintMatch] in
            var first: [String: String] = [:]
            let inherited = version.model.superentities(of: entity).flatMap(\.propertyNames)
            for name in inherited { first[name.uppercased()] = name }
            return entity.propertyNames.compactMap { name in
                let column = name.uppercased()
                defer { first[column] = first[column] ?? name }
                guard let other = first[column], other != name else { return nil }
                return LintMatch(
                    version.name, entity.name, name,
                    "\(entity.name).\(name) and \(other) differ only in case. Both would be the column Z\(column), so one of "
                        + "them gets a number.",
                    remedy: "Give one of them another name before the version is released.")
            }
        }
    }

    /// The number of columns in one table above which fetches become slow.
    private static let columnLimit = 200

    static func wideHierarchies(_ version: LintVersion) -> [LintMatch] {
        version.model.entities.filter { $0.superentityName == nil }.compactMap { root in
            let family = version.model.descendants(of: root)
            guard !family.isEmpty else { return nil }
            let count = ([root] + family).reduce(0) { count, entity in
                count + entity.attributes.count { $0.isStored }
                    + entity.relationships.count { !$0.isTransient && !$0.isToMany }
            }
            guard count > columnLimit else { return nil }
            return LintMatch(
                version.name, root.name, nil,
                "\(root.name) and its \(Quantity.count(family.count, "sub-entity", plural: "sub-entities")) share one table "
                    + "of \(Quantity.count(count, "column")), and each row has all of them.",
                remedy: "Replace the parent entity with a relationship to what is common.")
        }
    }

    private static func relationships(
        _ version: LintVersion, _ isIncluded: (RelationshipDescription) -> Bool
    ) -> [(String, RelationshipDescription)] {
        version.model.entities.flatMap { entity in
            entity.relationships.filter(isIncluded).map { (entity.name, $0) }
        }
    }
}
