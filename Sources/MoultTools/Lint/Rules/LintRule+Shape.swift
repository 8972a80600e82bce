import MoultBasics
import MoultModel

extension LintRule {
    private static func authored(_ rule: String, back: String) -> String {
        """
        <entity name="Post">
            <relationship name="author" optional="YES" maxCount="1" deletionRule="\(rule)" \
        destinationEntity="User" inverseName="posts" inverseEntity="User"/>
        </entity>
        <entity name="User">
            <relationship name="posts" optional="YES" toMany="YES" deletionRule="\(back)" \
        destinationEntity="Post" inverseName="author" inverseEntity="Post"/>
        </entity>
        """
    }
    private static func indexed(_ name: String) -> String {
        """
        <entity name="Post">
            <attribute name="title" optional="YES" attributeType="String"/>
            <fetchIndex name="byTitle">
                <fetchIndexElement property="\(name)" type="Binary" order="ascending"/>
            </fetchIndex>
        </entity>
        """
    }
    private static func many(_ count: Int) -> String {
        (1...count).map { "    <attribute name=\"value\($0)\" optional=\"YES\" attributeType=\"String\"/>\n" }.joined()
    }

    /// A reference to an entity or a property that is missing.
    static let brokenReference = LintRule(
        "SHAPE002", .error, "Reference to nothing",
        meaning: """
            A parent, a destination, an inverse, an index, a uniqueness constraint, a configuration, a fetched property or \
            a fetch request names an entity or a property that the model does not have.
            """,
        onDevice: "Xcode does not compile the model, or the app crashes when it loads the model.",
        remedy: "Correct the name, or remove the reference.",
        failing: LintExample(indexed("titel")), corrected: LintExample(indexed("title")),
        check: .version(ShapeRules.references))

    static let shape: [LintRule] = [
        LintRule(
            "SHAPE001", .warning, "Not read as written",
            meaning: """
                Moult noticed something while it read the model: a value that does not fit, a word that it does not \
                know, or an element that it leaves out. The finding has the severity and the code of what was noticed.
                """,
            onDevice: "The app may run with a different model from the one that you intended.",
            remedy: "Correct the value. If Core Data reads the element and Moult does not, report it.",
            failing: LintExample(
                post(
                    "<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"many\"/>"
                )),
            corrected: LintExample(
                post(
                    "<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"1\"/>"
                )),
            check: .model(ShapeRules.notRead)),
        brokenReference,
        LintRule(
            "SHAPE003", .warning, "Relationship without an inverse",
            meaning: """
                A relationship has no inverse. Core Data cannot keep its two ends equal, and a deletion may leave a \
                reference to an object that is gone.
                """,
            onDevice: "The app crashes with the message that a fault could not be fulfilled.",
            remedy: "Add a relationship in the other direction, and name both as each other's inverse.",
            failing: LintExample(
                """
                <entity name="Post">
                    <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="User"/>
                </entity>
                <entity name="User"/>
                """),
            corrected: LintExample(authored("Nullify", back: "Nullify")), check: .version(ShapeRules.inverses)),
        LintRule(
            "SHAPE004", .warning, "Cascade in a circle",
            meaning: """
                A relationship and its inverse both have the delete rule Cascade. Deleting one object deletes the objects \
                at the other end, which delete all of theirs. If relationships of several entities with Cascade lead in a \
                circle, it is a note. A tree of one entity is no finding.
                """,
            onDevice: "A user deletes one item and loses many.",
            remedy: "Choose Nullify for the end that does not own the other.",
            failing: LintExample(authored("Cascade", back: "Cascade")),
            corrected: LintExample(authored("Nullify", back: "Cascade")), check: .version(ShapeRules.cascades)),
        LintRule(
            "SHAPE005", .warning, "Transformable without secure coding",
            meaning: """
                A Transformable attribute has no transformer, or one that does not use secure coding. Its archive can make \
                any class when it is read.
                """,
            onDevice: "Core Data logs a warning at each start, and announces that it will refuse such attributes.",
            remedy: "Use `NSSecureUnarchiveFromData`, or a subclass of it that lists the classes.",
            failing: LintExample(post("<attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\"/>")),
            corrected: LintExample(
                post(
                    "<attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\" "
                        + "valueTransformerName=\"NSSecureUnarchiveFromData\"/>")),
            check: .version(ShapeRules.transformables)),
        LintRule(
            "SHAPE006", .warning, "Reserved name",
            meaning:
                "A property has the name of something that `NSManagedObject` or `NSObject` has, with another meaning.",
            onDevice: "The app crashes, or reads the wrong value.",
            remedy: "Rename the property in a new version, with its old name as the renaming identifier.",
            failing: LintExample(post("<attribute name=\"hash\" optional=\"YES\" attributeType=\"String\"/>")),
            corrected: LintExample(
                post("<attribute name=\"digest\" optional=\"YES\" attributeType=\"String\" elementID=\"hash\"/>")),
            check: .version(ShapeRules.reservedNames)),
        LintRule(
            "SHAPE007", .note, "Names that differ only in case",
            meaning: """
                Two properties of one table differ only in case. SQLite does not distinguish such columns, so Core \
                Data adds a number to one of them, in the order of the properties.
                """,
            onDevice: "Nothing, until a later version changes the order and the two columns are exchanged.",
            remedy: "Give one of them a different name.",
            failing: LintExample(
                """
                <entity name="Post">
                    <attribute name="id" optional="YES" attributeType="String"/>
                    <attribute name="ID" optional="YES" attributeType="Integer 64"/>
                </entity>
                """), corrected: LintExample(title), check: .version(ShapeRules.sameColumns)),
        LintRule(
            "SHAPE008", .note, "Wide table",
            meaning: """
                A parent entity and its sub-entities share one table, which has more than 200 columns. Each row has all of \
                them, and each fetch reads them.
                """,
            onDevice: "Fetches are slow.",
            remedy: "Replace the parent entity with a relationship to what is common.",
            failing: LintExample(
                "<entity name=\"Item\">\n\(many(201))</entity>\n<entity name=\"Book\" parentEntity=\"Item\"/>"),
            corrected: LintExample(
                "<entity name=\"Item\">\n\(many(3))</entity>\n<entity name=\"Book\" parentEntity=\"Item\"/>"),
            check: .version(ShapeRules.wideHierarchies)),
        LintRule(
            "SHAPE009", .error, "Refused by the compiler",
            meaning: """
                The source has an error for which it is not compiled: a name that is not an identifier, a name that \
                occurs twice, a predicate or an expression that does not parse, or an attribute without a type.
                """,
            onDevice: "Nothing: Xcode does not compile the model, or the predicate fails when it is used.",
            remedy: "Correct the line. Compiling the model finds the same errors.",
            failing: LintExample(post("<attribute name=\"full title\" optional=\"YES\" attributeType=\"String\"/>")),
            corrected: LintExample(post("<attribute name=\"fullTitle\" optional=\"YES\" attributeType=\"String\"/>")),
            check: .version(ShapeRules.notCompiled)),
        LintRule(
            "SHAPE010", .note, "External storage of a small value",
            meaning: """
                An attribute asks for external storage, and its type has no large values. The setting has no effect on \
                the values, and it is part of the version hash.
                """,
            onDevice: "Nothing. A later version that corrects the setting has another hash.",
            remedy: "Remove the setting.",
            failing: LintExample(
                post(
                    "<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\" "
                        + "allowsExternalBinaryDataStorage=\"YES\"/>")),
            corrected: LintExample(
                post(
                    "<attribute name=\"picture\" optional=\"YES\" attributeType=\"Binary\" "
                        + "allowsExternalBinaryDataStorage=\"YES\"/>")),
            check: .version(StorageRules.externalStorage)),
        LintRule(
            "SHAPE011", .note, "Lookup without an index",
            meaning: """
                A fetch request of the model compares attributes, and no index or uniqueness constraint begins with one of \
                them. SQLite reads every row of the table.
                """,
            onDevice: "The fetch is slow for users with many objects.",
            remedy: "Add a fetch index over the attribute.",
            failing: LintExample(
                "<fetchRequest name=\"bySlug\" entity=\"Post\" predicateString=\"slug == $SLUG\"/>\n"
                    + post("<attribute name=\"slug\" optional=\"YES\" attributeType=\"String\"/>")),
            corrected: LintExample(
                """
                <fetchRequest name="bySlug" entity="Post" predicateString="slug == $SLUG"/>
                <entity name="Post">
                    <attribute name="slug" optional="YES" attributeType="String"/>
                    <fetchIndex name="bySlug">
                        <fetchIndexElement property="slug" type="Binary" order="ascending"/>
                    </fetchIndex>
                </entity>
                """), check: .version(StorageRules.lookups)),
    ]
}

/// The rules about storing and finding values, which concern speed rather than data.
enum StorageRules {
    static func externalStorage(_ version: LintVersion) -> [LintMatch] {
        version.model.entities.flatMap { entity in
            entity.attributes.filter { $0.allowsExternalBinaryDataStorage && $0.isStored && $0.type.isSmall }.map {
                LintMatch(
                    version.name, entity.name, $0.name,
                    "\(entity.name).\($0.name) is of type \($0.type.name) and asks for external storage, which is for "
                        + "large data.",
                    remedy: "Remove the setting.", edit: .init(("allowsExternalBinaryDataStorage", nil)))
            }
        }
    }

    static func lookups(_ version: LintVersion) -> [LintMatch] {
        version.model.fetchRequestTemplates.compactMap { request in
            guard let entity = version.model.entity(request.entityName),
                let predicate = request.predicate.flatMap({ try? Predicate(parsing: $0) })
            else { return nil }
            let compared = predicate.comparedKeys.filter {
                version.model.attribute($0, of: entity).map { $0.isStored && $0.type != .boolean } == true
            }
            let indexed = version.model.lineage(of: entity).reduce(into: Set<String>()) { names, entity in
                names.formUnion(entity.leadingKeys)
            }
            guard let first = compared.first, indexed.isDisjoint(with: compared) else { return nil }
            return LintMatch(
                version.name, nil, request.name,
                "The fetch request \(request.name) compares \(compared.joined(separator: ", ")) of \(entity.name), and no "
                    + "index begins with \(compared.count == 1 ? "it" : "one of them"). Each call reads every row.",
                remedy: "If there are many objects, add a fetch index over \(first) to \(entity.name).")
        }
    }
}

extension AttributeType {
    /// Whether all values of the type are small.
    fileprivate var isSmall: Bool {
        let small: Set<AttributeType> = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date, .uuid,
        ]
        return small.contains(self)
    }
}

extension EntityDescription {
    /// The first properties of the indexes and uniqueness constraints.
    fileprivate var leadingKeys: [String] {
        let indexes = fetchIndexes.compactMap { index -> String? in
            if case .property(let name)? = index.elements.first?.subject { name } else { nil }
        }
        return indexes + uniquenessConstraints.compactMap(\.first) + compoundIndexes.compactMap(\.first)
            + attributes.filter(\.isIndexed).map(\.name)
    }
}

extension Predicate {
    /// The compared properties of the object itself for which an index can help, in byte order.
    fileprivate var comparedKeys: [String] {
        var keys: Set<String> = []
        func add(_ predicate: Predicate) {
            switch predicate {
            case .and(let parts), .or(let parts): parts.forEach(add)
            case .comparison(let comparison):
                let searching: Set<Operator> = [
                    .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .in, .between, .beginsWith,
                ]
                guard comparison.modifier == .direct, comparison.options.isEmpty,
                    searching.contains(comparison.operator),
                    case .keyPath(let name, .evaluatedObject) = comparison.left, !name.contains(".")
                else { return }
                keys.insert(name)
            case .constant, .not: return
            }
        }
        add(self)
        return keys.inByteOrder()
    }
}
