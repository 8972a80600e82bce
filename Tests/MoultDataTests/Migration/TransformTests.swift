import MoultData
import TestSupport
import Testing

import struct Moult.Project
import struct Moult.TextStyle

@Suite struct TransformTests {
    private func fill(_ store: VersionedStore) throws {
        try store.open(PeopleV1.self) { context in
            let office = PeopleV1.Place(name: "office")
            for (name, age, place) in [("Ada Lovelace", "36", office), ("Plato", "none", nil)] {
                let person = PeopleV1.Person(fullName: name, age: age)
                person.place = place
                context.insert(person)
            }
        }
    }

    @Test func `a value is split, retyped and renamed with old and new side by side`() throws {
        let store = try VersionedStore()
        try fill(store)
        try store.open(PeopleV2.self, PeoplePlan.self) { context in
            let people = try context.fetch(FetchDescriptor<PeopleV2.Person>()).sorted { $0.first < $1.first }
            #expect(people.map(\.first) == ["Ada", "Plato"] && people.map(\.last) == ["Lovelace", ""])
            #expect(people.map(\.age) == [36, nil])
            // A link that both versions have is kept, and one to a new object is made.
            #expect(people.map { $0.place?.name } == ["office", nil])
            #expect(people.map { $0.badge?.code } == ["office-36", nil])
            #expect(people[0].badge?.owner === people[0])
        }
        #expect(try store.sql("SELECT ZFIRST, ZLAST, ZAGE FROM ZPERSON ORDER BY Z_PK") == "Ada|Lovelace|36\nPlato||\n")
        #expect(try store.sql("SELECT ZCODE FROM ZBADGE") == "office-36\n")
    }

    @Test func `a link that the mapping would carry over goes where the code leads it`() throws {
        let store = try VersionedStore()
        try store.open(PeopleV1.self) { context in
            for name in ["move", "leave", "stay"] {
                let person = PeopleV1.Person(fullName: name, age: "1")
                person.place = PeopleV1.Place(name: "office of \(name)")
                context.insert(person)
            }
        }
        try store.open(PeopleV2.self, PeoplePlan.self) { _ in }
        #expect(
            try store.sql(
                "SELECT p.ZFIRST, ifnull(o.ZNAME, '-') FROM ZPERSON p LEFT JOIN ZPLACE o ON o.Z_PK = p.ZPLACE ORDER BY 1"
            )
                == "leave|-\nmove|home\nstay|office of stay\n")
    }

    @Test func `the plan of a store names the transforms, and the table that they fill`() async throws {
        let store = try VersionedStore()
        try fill(store)
        let plan = try await Project(MigrationRegistry(plan: PeoplePlan.self)).plan(for: store.path)
        let lines = plan.lines(style: TextStyle.plain)
        #expect(lines.contains("1.0.0 → 2.0.0  stage"), "\(lines)")
        #expect(lines.contains("  • The policy of the transforms from 1.0.0 to 2.0.0 makes the objects."), "\(lines)")
        let table = "ZPERSON is rebuilt, because the policy of the transforms from 1.0.0 to 2.0.0 makes objects."
        #expect(lines.contains(table) && lines.contains("ZBADGE is made."), "\(lines)")
    }

    @Test func `the plan without its transform is refused with every reason`() throws {
        let error = #expect(throws: MigrationError.self) { try PlainPeoplePlan.validate() }
        let text = try #require(error).message
        #expect(text.contains("Person.first is required and has no default value"), "\(text)")
        #expect(text.contains("Person.age changes its type from String to Integer 64"))
    }

    @Test(arguments: ["change", "throw"])
    func `what a transform must not do fails the migration and leaves the store`(_ fault: String) throws {
        let store = try VersionedStore()
        try store.open(PeopleV1.self) { $0.insert(PeopleV1.Person(fullName: fault, age: "")) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(PeopleV2.self, PeoplePlan.self) { _ in } }
        #expect(error?.underlyingError.code == .policyFailed, "\(String(describing: error))")
        #expect(try store.sql("SELECT ZFULLNAME FROM ZPERSON") == "\(fault)\n")
    }
}

private enum PeopleV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Place.self] }

    @Model final class Person {
        var fullName: String
        var age: String
        var place: Place?
        init(fullName: String, age: String) {
            self.fullName = fullName
            self.age = age
        }
    }

    @Model final class Place {
        var name: String
        @Relationship(inverse: \Person.place) var people: [Person] = []
        init(name: String) { self.name = name }
    }
}

private enum PeopleV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Place.self, Badge.self] }

    @Model final class Person {
        var first: String
        var last: String
        var age: Int?
        var place: Place?
        @Relationship(inverse: \Badge.owner) var badge: Badge?
        init(first: String, last: String) {
            self.first = first
            self.last = last
        }
    }

    @Model final class Place {
        var name: String
        @Relationship(inverse: \Person.place) var people: [Person] = []
        init(name: String) { self.name = name }
    }

    @Model final class Badge {
        var code: String
        var owner: Person?
        init(code: String) { self.code = code }
    }
}

private struct NameIsWrong: Error {}

private enum PeoplePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [
            .transform(from: PeopleV1.Person.self, to: PeopleV2.Person.self) { old, new in
                let names = old.fullName.split(separator: " ").map(String.init)
                new.first = names.first ?? ""
                new.last = names.dropFirst().joined(separator: " ")
                new.age = Int(old.age)
                if let place = old.place { new.badge = PeopleV2.Badge(code: "\(place.name)-\(old.age)") }
                switch old.fullName {
                case "change": old.age = "1"
                case "move": new.place = PeopleV2.Place(name: "home")
                case "leave": new.place = nil
                case "throw": throw NameIsWrong()
                default: break
                }
            }
        ]
    }
}

private enum PlainPeoplePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: PeopleV1.self, toVersion: PeopleV2.self)] }
}
