import MoultData
import Testing

/// Versions that differ by what only code knows.
@Suite struct CustomMigrationsTests {
    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Person.self, Visit.self] }

        @Model final class Person {
            var fullName: String
            var target: String
            var city: String
            init(fullName: String, target: String, city: String = "") {
                self.fullName = fullName
                self.target = target
                self.city = city
            }
        }

        @Model final class Visit {
            var person: String
            var day: Int
            init(person: String, day: Int) {
                self.person = person
                self.day = day
            }
        }
    }

    /// Adds what is to be filled: names in two parts, and a goal that is a number.
    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Person.self, Visit.self, Streak.self] }

        @Model final class Person {
            var fullName: String
            var firstName: String = ""
            var lastName: String = ""
            var target: String
            var goal: Int = 0
            var city: String
            init(fullName: String, target: String, city: String) {
                self.fullName = fullName
                self.target = target
                self.city = city
            }
        }

        @Model final class Visit {
            var person: String
            var day: Int
            init(person: String, day: Int) {
                self.person = person
                self.day = day
            }
        }

        @Model final class Streak {
            var person: String
            var days: Int
            init(person: String, days: Int) {
                self.person = person
                self.days = days
            }
        }
    }

    /// Removes what was split, and makes the name unique.
    enum AppV3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Person.self, Visit.self, Streak.self] }

        @Model final class Person {
            @Attribute(.unique) var lastName: String
            var firstName: String
            var goal: Int
            var city: String
            init(firstName: String, lastName: String, goal: Int, city: String) {
                self.firstName = firstName
                self.lastName = lastName
                self.goal = goal
                self.city = city
            }
        }

        @Model final class Visit {
            var person: String
            var day: Int
            init(person: String, day: Int) {
                self.person = person
                self.day = day
            }
        }

        @Model final class Streak {
            @Attribute(.unique) var person: String
            var days: Int
            init(person: String, days: Int) {
                self.person = person
                self.days = days
            }
        }
    }

    enum AppPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self, AppV3.self] }
        static var stages: [MigrationStage] { [v1ToV2, v2ToV3] }

        static let v1ToV2 = MigrationStage.custom(
            fromVersion: AppV1.self, toVersion: AppV2.self,
            willMigrate: { context in
                // Validate on the old models.
                for visit in try context.fetch(FetchDescriptor<AppV1.Visit>()) where visit.day < 0 {
                    context.delete(visit)
                }
                try context.save()
            },
            didMigrate: { context in
                for person in try context.fetch(FetchDescriptor<AppV2.Person>()) {
                    let parts = person.fullName.split(separator: " ")
                    person.firstName = parts.first.map(String.init) ?? ""
                    person.lastName = parts.dropFirst().joined(separator: " ")
                    person.goal = Int(person.target) ?? 0
                    if person.city.isEmpty { person.city = "Unknown" }
                }
                let visits = try context.fetch(FetchDescriptor<AppV2.Visit>())
                for (person, days) in Dictionary(grouping: visits, by: \.person) {
                    context.insert(AppV2.Streak(person: person, days: Set(days.map(\.day)).count))
                }
                try context.save()
            })

        static let v2ToV3 = MigrationStage.custom(
            fromVersion: AppV2.self, toVersion: AppV3.self,
            willMigrate: { context in
                // Make the names unique before they have to be.
                var known: Set<String> = []
                for person in try context.fetch(FetchDescriptor<AppV2.Person>(sortBy: [SortDescriptor(\.goal)]))
                where !known.insert(person.lastName).inserted {
                    context.delete(person)
                }
                try context.save()
            }, didMigrate: nil)
    }

    let store: SampleStore

    init() throws {
        store = try SampleStore()
        let context = ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: AppV1.self), configurations: ModelConfiguration(url: store.url)))
        context.insert(AppV1.Person(fullName: "Ada King Lovelace", target: "12", city: "London"))
        context.insert(AppV1.Person(fullName: "Bo Lovelace", target: "ten"))
        context.insert(AppV1.Person(fullName: "Cy King Lovelace", target: "15"))
        for day in [1, 2, 2, -1] { context.insert(AppV1.Visit(person: "Ada", day: day)) }
        try context.save()
    }

    private func open<Version: VersionedSchema>(_ version: Version.Type) throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: AppPlan.self,
                configurations: ModelConfiguration(url: store.url)))
    }

    /// A plan whose newest version is the second.
    enum FirstStage: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [AppPlan.v1ToV2] }
    }

    private func second() throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: AppV2.self), migrationPlan: FirstStage.self,
                configurations: ModelConfiguration(url: store.url)))
    }

    @Test func `a name is split in two`() throws {
        let people = try second().fetch(FetchDescriptor<AppV2.Person>(sortBy: [SortDescriptor(\.fullName)]))
        #expect(people.map(\.firstName) == ["Ada", "Bo", "Cy"])
        #expect(people.map(\.lastName) == ["King Lovelace", "Lovelace", "King Lovelace"])
    }

    @Test func `a text becomes a number`() throws {
        let people = try second().fetch(FetchDescriptor<AppV2.Person>(sortBy: [SortDescriptor(\.fullName)]))
        #expect(people.map(\.goal) == [12, 0, 15])
    }

    @Test func `an empty value is filled`() throws {
        let unknown = FetchDescriptor<AppV2.Person>(predicate: #Predicate { $0.city == "Unknown" })
        #expect(try second().fetchCount(unknown) == 2)
    }

    @Test func `a new model is filled from what is there`() throws {
        let streaks = try second().fetch(FetchDescriptor<AppV2.Streak>())
        #expect(streaks.map(\.person) == ["Ada"] && streaks.map(\.days) == [2])
    }

    @Test func `what the old models must not have goes before`() throws {
        #expect(try second().fetchCount(FetchDescriptor<AppV2.Visit>()) == 3)
    }

    @Test func `two stages in one go, with duplicates gone before values are unique`() throws {
        let people = try open(AppV3.self).fetch(FetchDescriptor<AppV3.Person>(sortBy: [SortDescriptor(\.goal)]))
        #expect(people.map(\.lastName) == ["Lovelace", "King Lovelace"] && people.map(\.goal) == [0, 12])
        #expect(try store.sql("SELECT count(*) FROM ZSTREAK") == ["1"])
        let columns = try store.sql("SELECT name FROM pragma_table_info('ZPERSON')")
        #expect(!columns.contains("ZFULLNAME") && !columns.contains("ZTARGET"))
    }

    @Test func `what was left is the newest version, to write to`() throws {
        let context = try open(AppV3.self)
        context.insert(AppV3.Person(firstName: "Di", lastName: "Lovelace", goal: 3, city: "Rome"))
        try context.save()
        #expect(try store.sql("SELECT ZFIRSTNAME, ZGOAL FROM ZPERSON WHERE ZLASTNAME = 'Lovelace'") == ["Di|3"])
    }
}
