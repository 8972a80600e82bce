import Foundation
import MoultCoreData
import TestSupport
import Testing

// The code blocks of Documentation/Transformations.md, compiled and run. A test compares the page with this file.

private enum Code {
    final class PersonPolicy: EntityMigrationPolicy {
        private var people: [String: DestinationObject] = [:]

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard let email = source.string("email")?.lowercased() else {
                source.outcome = .dropped(reason: "no e-mail address")
                return
            }
            if let known = people[email] {
                source.outcome = .merged(into: known)
                return
            }
            let person = try manager.makeDestinationInstance(forSource: source)
            person["email"] = .string(email)
            people[email] = person
        }
    }
}

@Suite struct TransformationsPageTests {
    private typealias PersonPolicy = Code.PersonPolicy

    // MARK: - The versions

    private func text(_ name: String) -> PropertyDescription { AttributeDescription(name: name, type: .string) }

    private func model(_ person: [PropertyDescription], _ others: [EntityDescription] = []) throws
        -> ManagedObjectModel
    {
        try ManagedObjectModel(entities: [EntityDescription(name: "Person", properties: person)] + others)
    }

    private func models() throws -> [ManagedObjectModel] {
        let email = EntityDescription(
            name: "Email",
            properties: [
                text("address"),
                RelationshipDescription(name: "person", destinationEntityName: "Person", inverseName: "emails"),
            ])
        let emails = RelationshipDescription(
            name: "emails", destinationEntityName: "Email", inverseName: "person", maxCount: 0)
        return try [
            model([text("first"), text("last"), text("email")]), model([text("name"), text("email")]),
            model([text("name"), text("email"), text("nick")]),
            model([text("name"), text("email"), text("nick"), emails], [email]),
        ]
    }

    @Test func `the page's programs run one after the other on one store`() async throws {
        let store = try TestStore()
        let url = store.url
        let models = try models()
        let (first, second, third, fourth) = (models[0], models[1], models[2], models[3])
        let people: [(String, String?, String?)] = [
            ("Jane", "Austen", "jane@example.org"), ("Jane", "A.", "JANE@example.org"), ("Emily", nil, "e@example.org"),
            ("Nobody", "Else", nil),
        ]
        let container = try store.container(first)
        for (first, last, email) in people {
            let person = try container.viewContext.insertNewObject(forEntityName: "Person")
            try person.setValue(first, forKey: "first")
            try person.setValue(last, forKey: "last")
            try person.setValue(email, forKey: "email")
        }
        try container.viewContext.save()
        try container.close()

        let moveAddresses = VersionedMigration(
            from: SemanticVersion(1, 2), to: SemanticVersion(1, 3), type: .heavyweight,
            customMigrationSteps: [
                MigrationStep(name: "move addresses", description: "Each address becomes an object.") { context in
                    try context.performAndWait {
                        for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
                            let email = try context.insertNewObject(forEntityName: "Email")
                            try email.setValue(person.value(forKey: "email"), forKey: "address")
                            try email.setValue(person, forKey: "person")
                        }
                        try context.save()
                    }
                }
            ],
            description: "Addresses get an entity of their own.")

        let versions = try VersionRegistry(
            [
                RegisteredVersion(SemanticVersion(1, 0), model: first, description: "People."),
                RegisteredVersion(SemanticVersion(1, 1), model: second, description: "One name.", type: .heavyweight),
                RegisteredVersion(
                    SemanticVersion(1, 2), model: third, description: "No duplicates.", type: .heavyweight),
                RegisteredVersion(SemanticVersion(1, 3), model: fourth, description: "Addresses.", type: .heavyweight),
            ],
            migrations: [moveAddresses])

        var registry = MigrationRegistry()

        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("name", from: "first", "last") { (first: String?, last: String?) in
                [first, last].compactMap { $0 }.joined(separator: " ")
            }
        ]
        registry.register(mapping: MappingModel([person]), from: "1.0.0", to: "1.1.0")

        let merging = EntityMapping(from: "Person", to: "Person", entityMigrationPolicyClassName: "PersonPolicy")
        registry.register(mapping: MappingModel([merging]), from: "1.1.0", to: "1.2.0")
        registry.register(policy: { PersonPolicy() }, named: "PersonPolicy")

        try await versions.migrate(storeAt: url, registry: registry)

        #expect(
            try store.sql(
                "SELECT group_concat(ZNAME || ' ' || ZEMAIL, '; ') FROM (SELECT * FROM ZPERSON ORDER BY Z_PK)")
                == "Jane Austen jane@example.org; Emily e@example.org")
        #expect(
            try store.sql("SELECT group_concat(ZADDRESS, ' ') FROM (SELECT * FROM ZEMAIL ORDER BY ZPERSON)")
                == "jane@example.org e@example.org")
        #expect(try versions.status(ofStoreAt: url).version == SemanticVersion(1, 3))
    }

    @Test func `a closure that takes its arguments over joins them as SQL does`() async throws {
        let store = try TestStore()
        let models = try models()
        // Of fifteen bytes and fewer a String lies in itself; longer ones do not.
        let names = [
            "", "Jane", "Émilie 🦜", "fifteen letters", "Maximilian Theodor", String(repeating: "ß", count: 300),
        ]
        let container = try store.container(models[0])
        for first in names {
            for last in names + ["none"] {
                let person = try container.viewContext.insertNewObject(forEntityName: "Person")
                try person.setValue(first, forKey: "first")
                try person.setValue(last == "none" ? nil : last, forKey: "last")
            }
        }
        try container.viewContext.save()
        try container.close()
        let joined = "SELECT group_concat(ifnull(%, '-'), '|') FROM (SELECT * FROM ZPERSON ORDER BY Z_PK)"
        let expected = try store.sql(joined.replacingOccurrences(of: "%", with: "ZFIRST || ' ' || ZLAST"))

        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("name", from: "first", "last") {
                (first: consuming String?, last: consuming String?) -> String? in
                guard var name = consume first, let last = consume last else { return nil }
                name += " "
                name += last
                return name
            }
        ]
        var registry = MigrationRegistry()
        registry.register(mapping: MappingModel([person]), from: "1.0.0", to: "1.1.0")
        let versions = try VersionRegistry(
            [
                RegisteredVersion(SemanticVersion(1, 0), model: models[0], description: "People."),
                RegisteredVersion(
                    SemanticVersion(1, 1), model: models[1], description: "One name.", type: .heavyweight),
            ], migrations: [])
        try await versions.migrate(storeAt: store.url, registry: registry)
        #expect(try store.sql(joined.replacingOccurrences(of: "%", with: "ZNAME")) == expected)
    }

    @Test func `every code block of the page is in this file`() throws {
        let page = try DocumentationPage("Transformations.md")
        #expect(page.blocks.count == 8 && page.missingBlocks.isEmpty, "\(page.missingBlocks)")
    }
}
