import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// What the errors of a plan advise, done: each remedy has to work.
@Suite("Remedies of plans that work when they are followed") struct RemedyTests {
    /// The faults and their remedies.
    private func message(_ plan: any SchemaMigrationPlan.Type) -> String {
        do {
            try plan.validate()
            return ""
        } catch {
            return "\(error)"
        }
    }

    private func makeRecipes() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(Recipes1.self) {
            $0.insert(Recipes1.Recipe(name: "Soup", steps: [.init(title: "cook", minutes: 9)]))
        }
        return store
    }

    @Test func `a stage that leaves JSON unreadable is refused with what its type lacks, also with a hashModifier`() {
        let same = message(RecipesSame.self)
        #expect(same.contains("have models with the same checksum"), "\(same)")
        #expect(same.contains("Recipe.steps holds JSON that LaterStep cannot decode: it has no value for isDone"))
        let modified = message(RecipesModified.self)
        #expect(!modified.contains("same checksum") && modified.contains("it has no value for isDone"), "\(modified)")
        #expect(modified.contains("write .transform(from: Recipes1.Recipe.self, to: RecipesHashed.Recipe.self)"))
    }

    @Test func `the remedy of such a stage works: a transform and a hashModifier`() throws {
        #expect(message(RecipesTransformed.self) == "")
        let store = try makeRecipes()
        let found = try store.open(RecipesHashed.self, RecipesTransformed.self) {
            try $0.fetch(FetchDescriptor<RecipesHashed.Recipe>()).map { "\($0.name) \($0.steps)" }
        }
        #expect(found == [#"Soup [MoultDataTests.LaterStep(title: "cook", minutes: 9, isDone: false)]"#])
    }

    @Test func `the other remedy works: a type that decodes what lacks the key`() throws {
        #expect(message(RecipesLenient.self) == "")
        let store = try makeRecipes()
        let found = try store.open(RecipesWithOptional.self, RecipesLenient.self) {
            try $0.fetch(FetchDescriptor<RecipesWithOptional.Recipe>()).map { $0.steps.map(\.title) }
        }
        #expect(found == [["cook"]])
    }

    @Test func `JSON that lacks a key is told as that, with what to change in the type`() throws {
        let store = try makeRecipes()
        try store.open(RecipesLater.self) { context in
            let error = #expect(throws: SwiftDataError.self) {
                try context.fetch(FetchDescriptor<RecipesLater.Recipe>())
            }
            let text = "\(error.map { "\($0)" } ?? "")"
            #expect(text.contains("LaterStep cannot decode: it has no value for isDone"), "\(text)")
            #expect(text.contains("Let LaterStep decode") && !text.contains("Set another value"), "\(text)")
        }
        // The remedy.
        let titles = try store.open(RecipesOptionalAlone.self) {
            try $0.fetch(FetchDescriptor<RecipesOptionalAlone.Recipe>()).flatMap { $0.steps.map(\.title) }
        }
        #expect(titles == ["cook"])
    }

    @Test func `two hierarchies under one root: the transform is not advised, and the version between works`() throws {
        let text = message(EventsDirect.self)
        #expect(text.contains("now have the common root Event"), "\(text)")
        #expect(!text.contains(".transform of Event") && text.contains("add a version between"), "\(text)")
        #expect(message(EventsBetween.self) == "")
        let store = try VersionedStore()
        try store.open(Events1.self) { context in
            context.insert(Events1.Meeting(title: "plan"))
            context.insert(Events1.Party(title: "cake"))
        }
        let titles = try store.open(Events3.self, EventsBetween.self) {
            try $0.fetch(FetchDescriptor<Events3.Event>(sortBy: [SortDescriptor(\.title)])).map {
                "\(type(of: $0)) \($0.title)"
            }
        }
        #expect(titles == ["PartyEvent cake", "MeetingEvent plan"])
    }
}

// MARK: - Recipes

struct FirstStep: Codable, Equatable { var title: String, minutes: Int }
struct LaterStep: Codable, Equatable { var title: String, minutes: Int, isDone: Bool = false }
struct OptionalStep: Codable, Equatable { var title: String, minutes: Int, isDone: Bool? }

enum Recipes1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }
    @Model final class Recipe {
        var name: String
        var steps: [FirstStep] = []
        init(name: String, steps: [FirstStep]) { (self.name, self.steps) = (name, steps) }
    }
}

enum RecipesLater: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }
    @Model final class Recipe {
        var name: String
        var steps: [LaterStep] = []
        init(name: String) { self.name = name }
    }
}

enum RecipesHashed: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }
    @Model final class Recipe {
        var name: String
        @Attribute(hashModifier: "2") var steps: [LaterStep] = []
        init(name: String) { self.name = name }
    }
}

enum RecipesWithOptional: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }
    @Model final class Recipe {
        var name: String
        @Attribute(hashModifier: "2") var steps: [OptionalStep] = []
        init(name: String) { self.name = name }
    }
}

enum RecipesOptionalAlone: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }
    @Model final class Recipe {
        var name: String
        var steps: [OptionalStep] = []
        init(name: String) { self.name = name }
    }
}

enum RecipesSame: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Recipes1.self, RecipesLater.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Recipes1.self, toVersion: RecipesLater.self)] }
}

enum RecipesModified: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Recipes1.self, RecipesHashed.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Recipes1.self, toVersion: RecipesHashed.self)] }
}

enum RecipesLenient: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Recipes1.self, RecipesWithOptional.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: Recipes1.self, toVersion: RecipesWithOptional.self)]
    }
}

enum RecipesTransformed: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Recipes1.self, RecipesHashed.self] }
    static var stages: [MigrationStage] {
        [
            .transform(from: Recipes1.Recipe.self, to: RecipesHashed.Recipe.self) { old, new in
                new.steps = old.steps.map { LaterStep(title: $0.title, minutes: $0.minutes) }
            }
        ]
    }
}

// MARK: - Events

enum Events1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Meeting.self, Party.self] }
    @Model class Meeting {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class Party {
        var title: String
        init(title: String) { self.title = title }
    }
}

/// The hierarchy that is wanted, under the names of the old classes.
enum EventsSameNames: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Event.self, Meeting.self, Party.self] }
    @Model class Event {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class Meeting: Event {
        override init(title: String) { super.init(title: title) }
    }
    @Model class Party: Event {
        override init(title: String) { super.init(title: title) }
    }
}

enum EventsDirect: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Events1.self, EventsSameNames.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Events1.self, toVersion: EventsSameNames.self)] }
}

/// Both hierarchies, so that objects can be copied.
enum Events2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Meeting.self, Party.self, Event.self, MeetingEvent.self, PartyEvent.self]
    }
    @Model class Meeting {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class Party {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class Event {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class MeetingEvent: Event {
        override init(title: String) { super.init(title: title) }
    }
    @Model class PartyEvent: Event {
        override init(title: String) { super.init(title: title) }
    }
}

enum Events3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Event.self, MeetingEvent.self, PartyEvent.self] }
    @Model class Event {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model class MeetingEvent: Event {
        override init(title: String) { super.init(title: title) }
    }
    @Model class PartyEvent: Event {
        override init(title: String) { super.init(title: title) }
    }
}

enum EventsBetween: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Events1.self, Events2.self, Events3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Events1.self, toVersion: Events2.self, willMigrate: nil,
                didMigrate: { context in
                    for meeting in try context.fetch(FetchDescriptor<Events2.Meeting>()) {
                        context.insert(Events2.MeetingEvent(title: meeting.title))
                    }
                    for party in try context.fetch(FetchDescriptor<Events2.Party>()) {
                        context.insert(Events2.PartyEvent(title: party.title))
                    }
                    try context.save()
                }),
            .lightweight(fromVersion: Events2.self, toVersion: Events3.self),
        ]
    }
}
