import Foundation
import MoultData
import TestSupport
import Testing

// The code blocks of Documentation/SwiftDataMigrations.md, compiled and run. A test compares the page with this file.

private enum SchemaV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Habit.self, Member.self, Profile.self] }

    @Model final class Habit {
        var target: String
        init(target: String) { self.target = target }
    }
    @Model final class Member {
        var email: String?
        init(email: String?) { self.email = email }
    }
    @Model final class Profile {
        var userName: String
        init(userName: String) { self.userName = userName }
    }
}

private enum SchemaV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Habit.self, Member.self, Profile.self] }

    @Model final class Habit {
        var target: String
        var isPinned = false
        init(target: String) { self.target = target }
    }
    @Model final class Member {
        @Attribute(.unique) var email: String
        init(email: String) { self.email = email }
    }
    @Model final class Profile {
        var userName: String
        init(userName: String) { self.userName = userName }
    }
}

private enum SchemaV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Habit.self, Member.self, Profile.self] }

    @Model final class Habit {
        var target: Int = 0
        var isPinned = false
        init(target: Int) { self.target = target }
    }
    @Model final class Member {
        @Attribute(.unique) var email: String
        init(email: String) { self.email = email }
    }
    @Model final class Profile {
        var displayName: String
        init(displayName: String) { self.displayName = displayName }
    }
}

private enum WholePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self, SchemaV3.self] }
    static var stages: [MigrationStage] { [merge] + AppPlan.stages.dropFirst() }

    static let merge = MigrationStage.transform(
        from: SchemaV1.Member.self, to: SchemaV2.Member.self,
        deciding: { old, made in
            guard let email = old.email else { return .dropped(reason: "no e-mail address") }
            if let known = made[email] { return .merged(into: known) }
            return .made(as: email)
        },
        transforming: { old, new in
            new.email = old.email ?? ""
        })

    static var answers: [MigrationAnswer] { [.renamed("Profile.displayName", from: "userName", in: SchemaV3.self)] }
}

private enum KeepingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { WholePlan.schemas }
    static var stages: [MigrationStage] { [WholePlan.merge, keep] }
    static var answers: [MigrationAnswer] { WholePlan.answers }

    nonisolated(unsafe) static var targets: [PersistentIdentifier: String] = [:]

    static let keep = MigrationStage.custom(
        fromVersion: SchemaV2.self, toVersion: SchemaV3.self,
        willMigrate: { context in
            for habit in try context.fetch(FetchDescriptor<SchemaV2.Habit>()) {
                targets[habit.persistentModelID] = habit.target
            }
        },
        didMigrate: { context in
            for habit in try context.fetch(FetchDescriptor<SchemaV3.Habit>()) {
                habit.target = targets[habit.persistentModelID].flatMap { Int($0) } ?? 1
            }
        })
}

enum AppPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self, SchemaV3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self),
            .transform(from: SchemaV2.Habit.self, to: SchemaV3.Habit.self) { old, new in
                new.target = Int(old.target) ?? 1
            },
        ]
    }
}

@Suite struct SwiftDataMigrationsPageTests {
    @Test func `the page's plan runs, with its answers and its merge`() throws {
        let store = try VersionedStore()
        try store.open(SchemaV1.self) { context in
            for target in ["7", "often"] { context.insert(SchemaV1.Habit(target: target)) }
            for email in ["a@x", nil, "a@x"] { context.insert(SchemaV1.Member(email: email)) }
            context.insert(SchemaV1.Profile(userName: "Ada"))
        }
        try store.open(SchemaV3.self, WholePlan.self) { context in
            let targets = try context.fetch(FetchDescriptor<SchemaV3.Habit>()).map(\.target).sorted()
            let emails = try context.fetch(FetchDescriptor<SchemaV3.Member>()).map(\.email)
            let names = try context.fetch(FetchDescriptor<SchemaV3.Profile>()).map(\.displayName)
            #expect(targets == [1, 7] && emails == ["a@x"] && names == ["Ada"])
        }
        // Without its answers and its merge the plan is refused; and there is a way to open a store with it.
        let url = store.url
        #expect(throws: (any Error).self) {
            let container = try ModelContainer(
                for: Schema(versionedSchema: SchemaV3.self), migrationPlan: AppPlan.self,
                configurations: ModelConfiguration(url: url))
            _ = container
        }
        #expect(throws: (any Error).self) {
            let container = try ModelContainer.makeContainer(
                migrationPlan: AppPlan.self, url: url,
                onProgress: { progress in print("\(progress.phase): \(Int(progress.fractionCompleted * 100)) %") })
            _ = container
        }
    }

    @Test func `values that willMigrate keeps are set by didMigrate, object by object`() throws {
        let store = try VersionedStore()
        try store.open(SchemaV1.self) { context in
            for target in ["7", "often", "12"] { context.insert(SchemaV1.Habit(target: target)) }
        }
        let before = try store.sql("SELECT Z_PK, ZTARGET FROM ZHABIT ORDER BY 1")
        try store.open(SchemaV3.self, KeepingPlan.self) { _ in }
        let after = try store.sql("SELECT Z_PK, ZTARGET FROM ZHABIT ORDER BY 1")
        #expect(after == before.replacing("often", with: "1"))
    }

    @Test func `a configuration holds a schema with its plan`() throws {
        let store = try VersionedStore()
        try store.open(SchemaV1.self) { $0.insert(SchemaV1.Habit(target: "5")) }
        for configuration in [
            SwiftDataConfiguration(schema: SchemaV3.self, migrationPlan: WholePlan.self, isCloudKitEnabled: true),
            SwiftDataConfiguration(schema: Schema(versionedSchema: SchemaV3.self), migrationPlan: WholePlan.self),
        ] {
            let container = try configuration.makeContainer(url: store.url)
            #expect(try ModelContext(container).fetch(FetchDescriptor<SchemaV3.Habit>()).map(\.target) == [5])
            let memory = try configuration.makeContainer(isStoredInMemoryOnly: true)
            #expect(try ModelContext(memory).fetchCount(FetchDescriptor<SchemaV3.Habit>()) == 0)
        }
        #expect(try MigrationHistory(storeAt: store.url).events().map(\.to) == ["3.0.0"])
        let stage: SwiftDataMigrationStage = WholePlan.merge
        if case .transform = stage {} else { Issue.record("it is a transform") }
    }

    @Test func `a configuration names the losses that it accepts`() {
        var configuration = ModelConfiguration()
        configuration.acceptedLosses = ["Journal", "Item.note"]
        #expect(configuration.acceptedLosses == ["Journal", "Item.note"])
    }

    @Test func `every code block of the page is in this file, or compiles by itself`() throws {
        let page = try DocumentationPage("SwiftDataMigrations.md")
        #expect(page.blocks.count == 8 && page.missingBlocks.count == 1)
        for block in page.missingBlocks {
            #expect(block.hasPrefix("import MoultCommands"), "\(block)")
            let check = try CompilerCheck(
                """
                \(block)
                enum V1: VersionedSchema {
                    static let versionIdentifier = Schema.Version(1, 0, 0)
                    static var models: [any PersistentModel.Type] { [] }
                }
                enum AppPlan: SchemaMigrationPlan {
                    static var schemas: [any VersionedSchema.Type] { [V1.self] }
                    static var stages: [MigrationStage] { [] }
                }
                """)
            #expect(check.errors.isEmpty, "\(check.errors)")
        }
    }
}
