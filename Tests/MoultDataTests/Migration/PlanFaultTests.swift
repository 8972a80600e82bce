import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// Each fault is one that somebody's plan had: a crash, a crash loop or rows that were gone.
@Suite struct PlanFaultTests {
    private func fault(_ plan: any SchemaMigrationPlan.Type) -> MigrationError? {
        do {
            try plan.validate()
            return nil
        } catch {
            #expect((error as? MigrationError)?.code == .stagesInvalid)
            return error as? MigrationError
        }
    }

    private func message(_ plan: any SchemaMigrationPlan.Type) -> String { fault(plan)?.message ?? "" }

    private func remedy(_ plan: any SchemaMigrationPlan.Type) -> String { fault(plan)?.remedy ?? "" }

    @Test func `a sound plan has no faults`() throws {
        #expect(message(SoundPlan.self) == "")
    }

    @Test func `all faults are listed in one error`() throws {
        let text = message(FaultyPlan.self)
        #expect(text.contains("has 6 faults"), "\(text)")
        #expect(text.contains("Tasks2 and Tasks2Again are both called 2.0.0."))
        #expect(text.contains("Tasks1 (1.0.0) and Tasks1Again (1.1.0) have models with the same checksum"))
        #expect(text.contains("No stage leads from 1.1.0 to 2.0.0."))
        #expect(text.contains("skips 1 version"))
        #expect(text.contains("names Tasks9, which is not among the plan's schemas"))
        #expect(text.contains("Task.owner is required and has no default value"))
    }

    @Test func `the remedy of one fault is what to do, and those of several have the numbers of the faults`() throws {
        let one = try #require(fault(HolePlan.self))
        #expect(one.message == "HolePlan has a fault: No stage leads from 1.0.0 to 2.0.0.")
        #expect(one.remedy == "Add one, such as .lightweight(fromVersion: Tasks1.self, toVersion: Tasks2.self).")
        #expect(!one.description.contains("\n"), "\(one)")
        let two = try #require(fault(PlanWithoutStages.self))
        #expect(
            two.message == """
                PlanWithoutStages has 2 faults:
                  1. No stage leads from 1.0.0 to 2.0.0.
                  2. No stage leads from 2.0.0 to 2.1.0.
                """)
        #expect(
            two.description == """
                \(two.message) (1.0.0 to 2.0.0; NSStagedMigrationFrameworkVersionMismatchError 134504)
                  1. Add one, such as .lightweight(fromVersion: Tasks1.self, toVersion: Tasks2.self).
                  2. Add one, such as .lightweight(fromVersion: Tasks2.self, toVersion: Tasks3.self).
                """)
    }

    @Test func `a plan without any stage is refused by validate as by the container that has to migrate`() throws {
        let text = message(PlanWithoutStages.self)
        #expect(
            text.contains("No stage leads from 1.0.0 to 2.0.0.") && text.contains("from 2.0.0 to 2.1.0."), "\(text)")
        let store = try VersionedStore()
        try store.open(Tasks1.self) { $0.insert(Tasks1.Task(title: "one")) }
        let refused = #expect(throws: SwiftDataError.self) {
            try store.open(Tasks3.self, PlanWithoutStages.self) { _ in }
        }
        #expect(refused?.message == text)
        let counted = #expect(throws: MigrationError.self) { try PlanWithoutStages.validate(storeAt: store.url) }
        #expect(counted?.message == text)
        #expect(try store.sql("SELECT ZTITLE FROM ZTASK") == "one\n")
        // Nothing is to be migrated in a new store, nor in one of the newest version.
        let new = try VersionedStore()
        for title in ["first", "second"] {
            try new.open(Tasks3.self, PlanWithoutStages.self) { $0.insert(Tasks3.Task(title: title)) }
        }
        #expect(try new.sql("SELECT count(*) FROM ZTASK") == "2\n")
    }

    @Test func `a class with a version in its name would drop every row`() throws {
        let text = message(ClassNamePlan.self)
        #expect(text.contains("the class TaskModelV1 is gone and TaskModelV2 is new"), "\(text)")
        let answer = #".renamed("TaskModelV2", from: "TaskModelV1", in: ClassName2.self)"#
        #expect(remedy(ClassNamePlan.self).contains(answer))
        #expect(message(ClassNameAnsweredPlan.self) == "")
    }

    @Test func `a class that got another name keeps its rows where the plan says so`() throws {
        let store = try VersionedStore()
        try store.open(ClassName1.self) { $0.insert(ClassName1.TaskModelV1(title: "keep me")) }
        let found = try store.open(ClassName2.self, ClassNameAnsweredPlan.self) {
            try $0.fetch(FetchDescriptor<ClassName2.TaskModelV2>()).map(\.title)
        }
        #expect(found == ["keep me"])
    }

    @Test func `a rename without originalName is a question, and is answered in the plan`() throws {
        let text = message(RenamePlan.self)
        #expect(text.contains("Task.headline"), "\(text)")
        #expect(remedy(RenamePlan.self).contains(#".renamed("Task.headline", from: "title", in: Renamed.self)"#))
        let store = try VersionedStore()
        try store.open(Tasks1.self) { $0.insert(Tasks1.Task(title: "one")) }
        let found = try store.open(Renamed.self, RenameAnsweredPlan.self) {
            try $0.fetch(FetchDescriptor<Renamed.Task>()).map(\.headline)
        }
        #expect(found == ["one"])
    }

    @Test func `an originalName that names nothing is named`() {
        let text = message(MisnamedPlan.self)
        #expect(text.contains("Its originalName, titel, is no property of Task in 1.0.0."), "\(text)")
        #expect(!message(RenamePlan.self).contains("originalName"))
    }

    @Test func `models that drifted from the newest version are found before the store is opened`() throws {
        let store = try VersionedStore()
        try store.open(Tasks1.self) { $0.insert(Tasks1.Task(title: "one")) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(Drifted.self, SoundPlan.self) { _ in } }
        #expect(error?.underlyingError.code == .stagesInvalid)
        #expect(
            error?.message.contains("The container's models match no version. Changed since 2.0.0, the newest:") == true
        )
        #expect(error?.message.contains("urgency") == true, "\(error?.message ?? "")")
        #expect(try store.sql("SELECT ZTITLE FROM ZTASK") == "one\n")
    }

    @Test func `versions that differ in a default alone have one checksum, and the difference is told`() {
        let text = message(DefaultPlan.self)
        #expect(text.contains("same checksum"), "\(text)")
        #expect(text.contains("What differs is not in it:"), "\(text)")
        #expect(remedy(DefaultPlan.self).contains("hashModifier"))
    }
}

// MARK: - Plans

private enum Tasks1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        init(title: String) { self.title = title }
    }
}

private enum Tasks1Again: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { [Tasks1.Task.self] }
}

private enum Tasks2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        var isDone = false
        init(title: String) { self.title = title }
    }
}

private enum Tasks2Again: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        var isDone = false
        var owner: String
        init(title: String) { (self.title, owner) = (title, "") }
    }
}

private enum Tasks3: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 1, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        var isDone = false
        var isUrgent = false
        init(title: String) { self.title = title }
    }
}

private enum HolePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Tasks2.self] }
    static var stages: [MigrationStage] { [] }
}

private enum PlanWithoutStages: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Tasks2.self, Tasks3.self] }
    static var stages: [MigrationStage] { [] }
}

private enum Tasks9: VersionedSchema {
    static let versionIdentifier = Schema.Version(9, 0, 0)
    static var models: [any PersistentModel.Type] { [Tasks1.Task.self] }
}

private enum SoundPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Tasks2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Tasks1.self, toVersion: Tasks2.self)] }
}

private enum FaultyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Tasks1Again.self, Tasks2.self, Tasks2Again.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Tasks1.self, toVersion: Tasks1Again.self),
            .lightweight(fromVersion: Tasks1.self, toVersion: Tasks2.self),
            .lightweight(fromVersion: Tasks2.self, toVersion: Tasks2Again.self),
            .lightweight(fromVersion: Tasks2Again.self, toVersion: Tasks9.self),
        ]
    }
}

private enum ClassName1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [TaskModelV1.self] }
    @Model final class TaskModelV1 {
        var title: String
        init(title: String) { self.title = title }
    }
}

private enum ClassName2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [TaskModelV2.self] }
    @Model final class TaskModelV2 {
        var title: String
        var isDone = false
        init(title: String) { self.title = title }
    }
}

private enum ClassNamePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ClassName1.self, ClassName2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: ClassName1.self, toVersion: ClassName2.self)] }
}

private enum ClassNameAnsweredPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { ClassNamePlan.schemas }
    static var stages: [MigrationStage] { ClassNamePlan.stages }
    static var answers: [MigrationAnswer] { [.renamed("TaskModelV2", from: "TaskModelV1", in: ClassName2.self)] }
}

private enum Renamed: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var headline: String = ""
        init(headline: String) { self.headline = headline }
    }
}

private enum Misnamed: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        @Attribute(originalName: "titel") var headline: String = ""
        init(headline: String) { self.headline = headline }
    }
}

private enum MisnamedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Misnamed.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Tasks1.self, toVersion: Misnamed.self)] }
}

private enum RenamePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks1.self, Renamed.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Tasks1.self, toVersion: Renamed.self)] }
}

private enum RenameAnsweredPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { RenamePlan.schemas }
    static var stages: [MigrationStage] { RenamePlan.stages }
    static var answers: [MigrationAnswer] { [.renamed("Task.headline", from: "title", in: Renamed.self)] }
}

private enum Drifted: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        var isDone = false
        var urgency: Int?
        init(title: String) { self.title = title }
    }
}

private enum OtherDefault: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Task.self] }
    @Model final class Task {
        var title: String
        var isDone = true
        init(title: String) { self.title = title }
    }
}

private enum DefaultPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Tasks2.self, OtherDefault.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Tasks2.self, toVersion: OtherDefault.self)] }
}
