import Foundation
import MoultData
import TestSupport
import Testing

/// A process that dies within a plan's own code leaves the store as it was, and the next one finishes.
@Suite struct KilledPlanTests {
    /// Where the process dies, in the plan's code.
    @Test(arguments: ["willMigrate", "transform", "didMigrate"])
    func `a process that dies in a plan's code leaves the old store`(place: String) async throws {
        let store = try VersionedStore()
        try store.open(CrewV1.self) { context in
            for number in 1...50 { context.insert(CrewV1.Sailor(name: "Sailor \(number)", age: "\(number)")) }
        }
        let before = try store.sql("SELECT * FROM ZSAILOR ORDER BY 1; SELECT hex(Z_PLIST) FROM Z_METADATA")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.path as String, place = place as String] in
            setenv("DIES_IN", place, 1)
            _ = try ModelContainer.makeContainer(migrationPlan: CrewPlan.self, url: URL(fileURLWithPath: path))
        }
        #expect(try store.sql("SELECT * FROM ZSAILOR ORDER BY 1; SELECT hex(Z_PLIST) FROM Z_METADATA") == before)
        try store.open(CrewV2.self, CrewPlan.self) { context in
            let sailors = try context.fetch(FetchDescriptor<CrewV2.Sailor>())
            #expect(sailors.count == 50 && sailors.reduce(0) { $0 + $1.age } == 1275)
            #expect(sailors.allSatisfy { $0.name == "will \($0.note)" && $0.note.hasPrefix("Sailor") })
        }
        #expect(try MigrationHistory(storeAt: store.url).events().map(\.outcome) == [.undone, .succeeded])
        #expect(try store.sql("SELECT count(*), sum(ZAGE) FROM ZSAILOR") == "50|1275\n")
    }

    @Test func `a process that is killed at any moment leaves the old store or the new one`() async throws {
        let store = try VersionedStore()
        try store.open(CrewV1.self) { context in
            for number in 1...50 { context.insert(CrewV1.Sailor(name: "Sailor \(number)", age: "\(number)")) }
        }
        for delay in Tier.faults.isAsked ? stride(from: 0, to: 0.3, by: 0.002).map(\.self) : [0.01, 0.04] {
            let copy = try VersionedStore()
            _ = try store.sql("VACUUM INTO '\(copy.path)'")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = copy.path as String, delay = delay as Double] in
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: delay)
                    kill(getpid(), SIGKILL)
                }
                _ = try ModelContainer.makeContainer(migrationPlan: CrewPlan.self, url: URL(fileURLWithPath: path))
                kill(getpid(), SIGKILL)
            }
            try copy.open(CrewV2.self, CrewPlan.self) { context in
                let sailors = try context.fetch(FetchDescriptor<CrewV2.Sailor>())
                #expect(sailors.count == 50 && sailors.reduce(0) { $0 + $1.age } == 1275)
            }
        }
    }
}

private enum CrewV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Sailor.self] }

    @Model final class Sailor {
        var name: String
        var age: String
        init(name: String, age: String) {
            self.name = name
            self.age = age
        }
    }
}

private enum CrewV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Sailor.self] }

    @Model final class Sailor {
        var name: String
        var age: Int
        var note = ""
        init(name: String, age: Int) {
            self.name = name
            self.age = age
        }
    }
}

private enum CrewPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [CrewV1.self, CrewV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: CrewV1.self, toVersion: CrewV2.self,
                willMigrate: { context in
                    for sailor in try context.fetch(FetchDescriptor<CrewV1.Sailor>()) {
                        sailor.name = "will \(sailor.name)"
                    }
                    try context.save()
                    die("willMigrate")
                },
                didMigrate: { context in
                    for sailor in try context.fetch(FetchDescriptor<CrewV2.Sailor>()) {
                        sailor.note = String(sailor.name.dropFirst(5))
                    }
                    try context.save()
                    die("didMigrate")
                }),
            .transform(from: CrewV1.Sailor.self, to: CrewV2.Sailor.self) { old, new in
                new.age = Int(old.age) ?? 0
                if old.age == "25" { die("transform") }
            },
        ]
    }

    static func die(_ place: String) {
        if getenv("DIES_IN").map({ String(cString: $0) }) == place { kill(getpid(), SIGKILL) }
    }
}
