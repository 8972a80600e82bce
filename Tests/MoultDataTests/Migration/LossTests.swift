import MoultBasics
import MoultData
import MoultModel
import Synchronization
import TestSupport
import Testing

/// A property that both versions have, whose values nobody reads, is not lost silently.
@Suite struct LossTests {  // tier: long
    /// Two habits with a target and one without; counted by the sqlite3 shell.
    private func store() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(LossV1.self) { context in
            for (name, target) in [("run", "3"), ("read", "20"), ("rest", nil)] {
                context.insert(LossV1.Habit(name: name, target: target))
            }
        }
        #expect(try store.sql("SELECT count(ZTARGET), count(ZNOTE) FROM ZHABIT") == "2|3\n")
        return store
    }

    private func losses(of store: VersionedStore) throws -> [String] {
        try #require(try MigrationHistory(storeAt: store.url).events().last).losses.map {
            "\($0.place) \($0.count ?? -1) \($0.reason)"
        }
    }

    private func refusal(_ store: VersionedStore, _ plan: any SchemaMigrationPlan.Type) throws
        -> MoultBasics.MigrationError
    {
        let before = try store.sql(".sha3sum --schema")
        let error = try #require(throws: SwiftDataError.self) { try store.open(LossV2.self, plan) { _ in } }
        #expect(try store.sql(".sha3sum --schema") == before)
        return error.underlyingError
    }

    @Test(arguments: [false, true])
    func `a change of type that didMigrate alone fills is a fault of the plan, with the code to write`(
        isAnswered: Bool
    ) throws {
        let plan: any SchemaMigrationPlan.Type = isAnswered ? FilledAndAnswered.self : FilledAlone.self
        let error = try #require(throws: MoultBasics.MigrationError.self) { try plan.validate() }
        #expect(error.code == .stagesInvalid)
        #expect(error.place == "Habit.target")
        #expect(error.message.contains("no code can read the old values"), "\(error.message)")
        #expect(
            error.remedy.contains(
                ".transform(from: LossV1.Habit.self, to: LossV2.Habit.self) { old, new in new.target = … old.target … }"
            ),
            "\(error.remedy)")
        #expect(error.remedy.contains(#"acceptedLosses: AcceptedLosses { ["Habit.target"] }"#), "\(error.remedy)")
        #expect(try refusal(try store(), plan).code == .stagesInvalid)
    }

    @Test func `a loss that the plan accepts is counted in the history, the log and for the logger`() throws {
        let store = try store()
        let logger = Logger()
        _ = try ModelContainer.makeContainer(migrationPlan: FilledAndAccepted.self, url: store.url, logger: logger)
        #expect(try store.sql("SELECT DISTINCT ZTARGET FROM ZHABIT") == "7\n")
        #expect(try losses(of: store) == ["Habit.note 3 removed", "Habit.target 2 dropped"])
        #expect(logger.losses.withLock { $0 }.map(\.place) == ["Habit.note", "Habit.target"])
        let log = try String(contentsOfFile: store.path + ".moult/log.txt", encoding: .utf8)
        #expect(log.contains("2 values of Habit.target are lost"), "\(log)")
        #expect(log.contains("3 values of Habit.note are deleted"), "\(log)")
    }

    @Test func `willMigrate that reads the values may hand them on, and what is removed is counted all the same`()
        throws
    {
        let store = try store()
        try store.open(LossV2.self, ReadBefore.self) { _ in }
        #expect(try store.sql("SELECT ZNAME, ZTARGET FROM ZHABIT ORDER BY 1") == "read|20\nrest|0\nrun|3\n")
        #expect(try losses(of: store) == ["Habit.note 3 removed"])
    }

    @Test func `willMigrate that names the property in a predicate has read it`() throws {
        let store = try store()
        try store.open(LossV2.self, AskedBefore.self) { _ in }
        #expect(try losses(of: store) == ["Habit.note 3 removed"])
    }

    /// It fetches, changes and saves every object, whose validation looks at all values.
    @Test func `willMigrate that fetches and saves and reads another property has not read this one`() throws {
        let error = try refusal(try store(), ReadElsewhere.self)
        #expect(error.code == .lossNotAccepted, "\(error)")
        #expect(error.place == "Habit.target")
        #expect(error.message.contains("2 values of Habit.target are lost"), "\(error.message)")
        #expect(error.remedy.contains(".transform(from: LossV1.Habit.self"), "\(error.remedy)")
    }

    @Test func `no value, no loss: a stage that reads nothing runs on a store that holds nothing`() throws {
        let store = try VersionedStore()
        try store.open(LossV1.self) { $0.insert(LossV1.Habit(name: "rest", target: nil)) }
        try store.open(LossV2.self, ReadElsewhere.self) { _ in }
        #expect(try losses(of: store) == ["Habit.note 1 removed"])
    }

    @Test func `a transform that reads the old property loses nothing, one that never does is refused`() throws {
        let store = try store()
        try store.open(LossV2.self, Transformed.self) { _ in }
        #expect(try store.sql("SELECT ZNAME, ZTARGET FROM ZHABIT ORDER BY 1") == "read|20\nrest|0\nrun|3\n")
        #expect(try losses(of: store) == ["Habit.note 3 removed"])
        let error = try refusal(try self.store(), TransformedBlindly.self)
        #expect(error.code == .lossNotAccepted, "\(error)")
        #expect(error.place == "Habit.target" && error.message.contains("2 values"), "\(error)")
    }

    @Test func `without code an answer that the values go is enough, and they are counted`() throws {
        let store = try store()
        try store.open(LossV2.self, Answered.self) { _ in }
        #expect(try losses(of: store) == ["Habit.note 3 removed", "Habit.target 2 dropped"])
    }

    @Test func `objects that the code of a stage or a transform drops are counted`() throws {
        let store = try store()
        try store.open(LossV2.self, Deleting.self) { _ in }
        #expect(try losses(of: store) == ["Habit 1 byCode", "Habit.note 2 removed"])
        let other = try self.store()
        try other.open(LossV2.self, Deciding.self) { _ in }
        #expect(try losses(of: other) == ["Habit 2 byCode", "Habit.note 3 removed"])
    }

    private final class Logger: MigrationLogging {
        let losses = Mutex<[MigrationLoss]>([])
        func logMigrationStart(from: String, to: String) {}
        func logMigrationSuccess(from: String, to: String, duration: TimeInterval) {}
        func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error) {}
        func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {
            self.losses.withLock { $0 += losses }
        }
    }
}

// MARK: - Versions and plans

private enum LossV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Habit.self] }

    @Model final class Habit {
        var name: String
        var target: String?
        var note = "none"
        init(name: String, target: String?) {
            self.name = name
            self.target = target
        }
    }
}

/// The target is a number, and there is no note.
private enum LossV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Habit.self] }

    @Model final class Habit {
        var name: String
        var target: Int = 0
        init(name: String) { self.name = name }
    }
}

private protocol LossPlan: SchemaMigrationPlan {}

extension LossPlan {
    static var schemas: [any VersionedSchema.Type] { [LossV1.self, LossV2.self] }

    fileprivate static func custom(
        _ will: ((ModelContext) throws -> Void)?, _ did: ((ModelContext) throws -> Void)? = nil
    ) -> MigrationStage {
        .custom(fromVersion: LossV1.self, toVersion: LossV2.self, willMigrate: will, didMigrate: did)
    }

    fileprivate static func fill(_ context: ModelContext) throws {
        for habit in try context.fetch(FetchDescriptor<LossV2.Habit>()) { habit.target = 7 }
        try context.save()
    }
}

private enum FilledAlone: LossPlan {
    static var stages: [MigrationStage] { [custom(nil, fill)] }
}

private enum FilledAndAnswered: LossPlan {
    static var stages: [MigrationStage] { [custom(nil, fill)] }
    static var answers: [MigrationAnswer] { [.dropped("Habit.target", in: LossV2.self)] }
}

private enum FilledAndAccepted: LossPlan {
    static var stages: [MigrationStage] { [custom(nil, fill)] }
    static var acceptedLosses: AcceptedLosses { ["Habit.target"] }
}

private enum ReadBefore: LossPlan {
    nonisolated(unsafe) private static var targets: [String: Int] = [:]
    static var stages: [MigrationStage] {
        [
            custom(
                { context in
                    for habit in try context.fetch(FetchDescriptor<LossV1.Habit>()) {
                        targets[habit.name] = habit.target.flatMap { Int($0) }
                    }
                },
                { context in
                    for habit in try context.fetch(FetchDescriptor<LossV2.Habit>()) {
                        habit.target = targets[habit.name] ?? 0
                    }
                })
        ]
    }
}

private enum AskedBefore: LossPlan {
    static var stages: [MigrationStage] {
        [
            custom({ context in
                _ = try context.fetchCount(FetchDescriptor<LossV1.Habit>(predicate: #Predicate { $0.target == "3" }))
            })
        ]
    }
}

private enum ReadElsewhere: LossPlan {
    static var stages: [MigrationStage] {
        [
            custom({ context in
                for habit in try context.fetch(FetchDescriptor<LossV1.Habit>()) {
                    habit.name = habit.name.uppercased()
                }
                try context.save()
            })
        ]
    }
}

private enum Transformed: LossPlan {
    static var stages: [MigrationStage] {
        [
            .transform(from: LossV1.Habit.self, to: LossV2.Habit.self) { old, new in
                new.target = old.target.flatMap { Int($0) } ?? 0
            }
        ]
    }
}

private enum TransformedBlindly: LossPlan {
    static var stages: [MigrationStage] {
        [.transform(from: LossV1.Habit.self, to: LossV2.Habit.self) { old, new in new.target = old.name.count }]
    }
}

private enum Answered: LossPlan {
    static var stages: [MigrationStage] { [.lightweight(fromVersion: LossV1.self, toVersion: LossV2.self)] }
    static var answers: [MigrationAnswer] { [.dropped("Habit.target", in: LossV2.self)] }
}

private enum Deleting: LossPlan {
    static var stages: [MigrationStage] {
        [
            custom({ context in
                for habit in try context.fetch(FetchDescriptor<LossV1.Habit>()) where habit.target == nil {
                    context.delete(habit)
                }
            })
        ]
    }
}

private enum Deciding: LossPlan {
    static var stages: [MigrationStage] {
        [
            .transform(
                from: LossV1.Habit.self, to: LossV2.Habit.self,
                deciding: { old, _ in old.target == "3" ? .made : .dropped(reason: "not three") },
                transforming: { old, new in new.target = 3 })
        ]
    }
}
