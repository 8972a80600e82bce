import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// Migration policies in calls that each end on their budget.
struct BudgetPolicyTests {  // tier: long
    /// The policy ``PolicyTests/Users`` without a memory of its own: it looks up users in the store.
    final class Users: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard let id = source.integer("userID") else {
                source.outcome = .dropped(reason: "no user ID")
                return
            }
            guard id > 0 else {
                source.outcome = .quarantined(reason: "an impossible user ID")
                return
            }
            if let known = try manager.destinationObjects("User", where: "userID == %@", .integer(id), limit: 1).first {
                known["score"] = .integer(max(known["score"].integer ?? 0, source.integer("score") ?? 0))
                source.outcome = .merged(into: known)
            } else {
                let user = try manager.makeDestinationInstance(forSource: source)
                user["initials"] = source.string("username").map { .string(String($0.prefix(1))) }
            }
        }
    }

    static let policies: [String: @Sendable () -> EntityMigrationPolicy] = [
        "Users": { Users() }, "Threads": { PolicyTests.Threads() },
    ]

    @Test(arguments: [(1, 16), (3, 7), (8, 1_000)])
    func `stopped at every piece it ends with the store of one run`(units: Int, batchSize: Int) throws {
        let paced = PacedWorld(try PolicyWorld(), Self.policies, batchSize: batchSize)
        let (old, one) = (try paced.hash(), try paced.oneRun())
        var fraction = 0.0
        let (pauses, outcome) = try paced.callUntilDone(.units(units)) { pause throws in
            #expect(try paced.hash() == old)
            #expect(pause.fraction >= fraction && pause.startedOver == nil)
            fraction = pause.fraction
        }
        #expect(try old != paced.hash() && paced.hash() == one.hash)
        #expect(outcome?.policies == one.outcome.policies)
        #expect(outcome?.losses == one.outcome.losses)
        #expect(outcome?.quarantined == 1)
        #expect(Set(pauses.map(\.run)).count == 1)
        let entries = "SELECT entity, key, reason, origin FROM quarantine"
        #expect(
            try SQLiteShell.run(paced.world.store + ".moult/quarantine.sqlite", entries)
                == "User|13|an impossible user ID|Users\n")
        #expect(try paced.workFolders() == [])
    }

    @Test func `both passes are cut in the middle`() throws {
        let paced = PacedWorld(try PolicyWorld(), Self.policies)
        let nexts = try paced.callUntilDone(.one).pauses.map(\.next)
        // A hundred threads in batches of sixteen.
        #expect(nexts.count { $0 == "Call the policy Threads for the objects of Thread." } == 7)
        #expect(nexts.count { $0 == "Call the policy Threads for the relationships of ThreadToThread." } == 7)
        #expect(nexts.last == "Commit the new store, in one transaction.")
    }

    @Test func `calls that die go on from their last piece`() throws {
        var paced = PacedWorld(try PolicyWorld(), Self.policies)
        paced.migration.maximumAttempts = .max
        let one = try paced.oneRun()
        let journal = paced.world.store + ".moult/journal.json"
        let outcome = try paced.callUntilDone(.units(2)) { _ throws in
            // A process that dies leaves the journal as the call had written it at its beginning.
            let text = try String(contentsOfFile: journal, encoding: .utf8)
            try text.replacingOccurrences(of: "\"paused\"", with: "\"started\"")
                .write(toFile: journal, atomically: true, encoding: .utf8)
        }.outcome
        #expect(try paced.hash() == one.hash)
        #expect(outcome?.policies == one.outcome.policies)
        #expect(outcome?.quarantined == 1)
    }

    @Test func `a budget in seconds is kept`() throws {
        var paced = PacedWorld(try PolicyWorld(), Self.policies)
        let one = try paced.oneRun()
        paced.system = SlowClock(step: 3_000_000)
        let (pauses, outcome) = try paced.callUntilDone(.seconds(0.3))
        #expect(outcome != nil && !pauses.isEmpty)
        #expect(try paced.hash() == one.hash)
    }

    /// Each call has a policy of its own, but what happens in a run happens once.
    @Test func `every method is called once in all`() throws {
        final class Log: Sendable {
            let lines = Mutex<[String]>([])
            func add(_ line: String) { lines.withLock { $0.append(line) } }
        }
        final class Telling: EntityMigrationPolicy {
            private let log: Log
            override var keepsState: Bool { false }

            init(_ log: Log) {
                self.log = log
                log.add("init")
            }

            override func begin(_ mapping: EntityMapping, with manager: MigrationManager) { log.add("begin") }
            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                log.add("instance")
                try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            }
            override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) {
                log.add("end of instances")
            }
            override func createRelationships(
                forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                log.add("relationships")
                try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
            }
            override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) {
                log.add("end of relationships")
            }
            override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) {
                log.add("validation")
            }
            override func end(_ mapping: EntityMapping, manager: MigrationManager) { log.add("end") }
        }
        let log = Log()
        let paced = PacedWorld(
            try PolicyWorld(), ["Threads": { Telling(log) }],
            mapping: PolicyWorld.mapping(users: nil, threads: "Threads"))
        let pauses = try paced.callUntilDone(.one).pauses
        let lines = log.lines.withLock { $0 }
        #expect(lines.count { $0 == "init" } > pauses.count)
        let all = Array(repeating: "instance", count: 100)
        let links = Array(repeating: "relationships", count: 100)
        #expect(
            lines.filter { $0 != "init" }
                == ["begin"] + all + ["end of instances"] + links + ["end of relationships", "validation", "end"])
    }

    @Test func `a policy that keeps state is one unit, and the plan names it`() throws {
        let paced = PacedWorld(try PolicyWorld(), PolicyTests.policies)
        let one = try paced.oneRun()
        let reason = "in one unit: the policy Users keeps its own state."
        #expect(try paced.prepared().longestUnit?.sentence.hasSuffix(reason) == true)
        #expect(try paced.call(.one).pause?.next == "Back up the store.")
        #expect(try paced.call(.one).pause?.next.hasSuffix(reason) == true)
        #expect(try paced.call(.one).finished?.policies == one.outcome.policies)
        #expect(try paced.hash() == one.hash)
    }

    @Test func `a policy that is found to share values is done in one piece from then on`() throws {
        final class Counting: EntityMigrationPolicy {
            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                let count = (manager.userInfo["count"] as? Int64 ?? 0) + 1
                manager.userInfo["count"] = count
                try manager.makeDestinationInstance(forSource: source)["unread"] = .integer(count)
            }
        }
        let paced = PacedWorld(
            try PolicyWorld(), ["Threads": { Counting() }],
            mapping: PolicyWorld.mapping(users: nil, threads: "Threads"))
        let one = try paced.oneRun()
        let (pauses, outcome) = try paced.callUntilDone(.one)
        #expect(pauses.last?.next == "Call the policy Threads for the objects of Thread.")
        #expect(outcome?.policies == one.outcome.policies)
        #expect(try paced.hash() == one.hash)
        #expect(
            try paced.world.shell("SELECT count(*), max(ZUNREAD), count(DISTINCT ZUNREAD) FROM main.ZTHREAD")
                == "100|100|100\n")
    }

    /// The verification leaves out the rows of statements that policies have written, also in a later call.
    @Test func `objects that statements have made can be changed, and others added to them`() throws {
        final class Changing: EntityMigrationPolicy {
            override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                for post in try manager.destinationObjects("Post", where: "text ENDSWITH '7'") {
                    post["text"] = "seven"
                }
                let tag = try manager.insertObject(forEntityName: "Tag")
                tag["name"] = "new"
                tag.setObjects(try manager.destinationObjects("Thread", where: "postCount == 9"), for: "threads")
            }
        }
        let paced = PacedWorld(
            try PolicyWorld(), ["Threads": { Changing() }],
            mapping: PolicyWorld.mapping(users: nil, threads: "Threads"))
        let one = try paced.oneRun()
        #expect(try paced.callUntilDone(.one).outcome != nil)
        #expect(try paced.hash() == one.hash)
        #expect(
            try paced.world.shell("SELECT count(*) FROM main.ZPOST WHERE ZTEXT = 'seven'")
                == paced.world.shell("SELECT count(*) FROM old.ZPOST WHERE ZTEXT LIKE '%7'"))
        #expect(try paced.world.shell("SELECT ZNAME FROM main.ZTAG WHERE Z_PK = 6") == "new\n")
    }

    @Test func `no trigger of the app fires in any call, and each is there afterwards`() throws {
        let paced = PacedWorld(
            try PolicyWorld(
                fill: """
                    CREATE TABLE app_log (name);
                    CREATE TRIGGER app_made AFTER INSERT ON ZTHREAD BEGIN INSERT INTO app_log VALUES ('made'); END;
                    CREATE TRIGGER app_changed AFTER UPDATE ON ZUSER BEGIN INSERT INTO app_log VALUES ('changed'); END;
                    """), Self.policies)
        let one = try paced.oneRun()
        #expect(try paced.callUntilDone(.one).outcome != nil)
        #expect(try paced.hash() == one.hash)
        #expect(
            try paced.world.shell(
                """
                SELECT (SELECT count(*) FROM main.app_log),
                    (SELECT count(*) FROM main.sqlite_master WHERE type = 'trigger' AND name LIKE 'app_%')
                """) == "0|2\n")
    }

    /// The statements are the same.
    @Test func `another mapping for the policies starts over`() throws {
        var paced = PacedWorld(try PolicyWorld(), Self.policies)
        var nexts: [String] = []
        while !nexts.contains("Call the policy Threads for the objects of Thread.") {
            guard let pause = try paced.call(.one).pause else { break }
            nexts.append(pause.next)
        }
        var threads = EntityMapping(from: "Thread", to: "Thread", entityMigrationPolicyClassName: "Threads")
        threads.attributeMappings = [try PropertyMapping("slug", "$source.title")]
        paced.mapping.entityMappings[1] = threads
        let one = try paced.oneRun()
        #expect(try paced.call(.one).startedOver?.hasSuffix("with another plan.") == true)
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.hash() == one.hash)
        #expect(
            try paced.world.shell("SELECT count(*) FROM main.ZTHREAD WHERE ZSLUG = ZTITLE AND Z_PK <= 100") == "99\n")
    }

    @Test func `what the last method makes is in the store`() throws {
        final class Ending: EntityMigrationPolicy {
            override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
                try manager.insertObject(forEntityName: "Tag")["name"] = "the end"
            }
        }
        let mapping = PolicyWorld.mapping(users: nil, threads: "Threads")
        let paced = PacedWorld(try PolicyWorld(), ["Threads": { Ending() }], mapping: mapping)
        let one = try paced.oneRun()
        #expect(try paced.callUntilDone(.one).outcome != nil)
        #expect(try paced.hash() == one.hash)
        #expect(try paced.world.shell("SELECT ZNAME FROM main.ZTAG WHERE Z_PK = 6") == "the end\n")
    }
}

/// The store of a ``PolicyWorld`` and calls that migrate it piece by piece.
private struct PacedWorld {
    let world: PolicyWorld
    let policies: [String: @Sendable () -> EntityMigrationPolicy]
    var mapping: MappingModel
    let batchSize: Int
    var migration = MigrationOptions()
    var system: any System = POSIXSystem()

    init(
        _ world: PolicyWorld, _ policies: [String: @Sendable () -> EntityMigrationPolicy],
        mapping: MappingModel = PolicyWorld.mapping(users: "Users", threads: "Threads"), batchSize: Int = 16
    ) {
        (self.world, self.policies, self.mapping, self.batchSize) = (world, policies, mapping, batchSize)
        migration.keysPerPiece = 60
        migration.isSequential = true
    }

    func prepared(_ store: String? = nil) throws -> PreparedMigration {
        var registry = MigrationRegistry()
        registry.policies = policies
        registry.register(mapping: mapping, from: "1", to: "2")
        var options = PreparedMigration.Options(registry: registry)
        options.batchSize = batchSize
        options.choice = .normalised
        options.continuesEarlierCall = store == nil
        let versions = ModelVersions(versions: [try PolicyWorld.old.get(), try PolicyWorld.new.get()])
        return try PreparedMigration(store ?? world.store, versions: versions, options: options, system: system)
    }

    func call(_ limit: CallLimit) throws -> BudgetOutcome {
        try Migrator(options: migration, system: system).run(try prepared(), within: limit)
    }

    /// Calls until the migration is done, at most 500 times.
    func callUntilDone(
        _ limit: CallLimit, between: (MigrationPause) throws -> Void = { _ in }
    ) throws -> (pauses: [MigrationPause], outcome: MigrationOutcome?) {
        var pauses: [MigrationPause] = []
        while pauses.count < 500 {
            let outcome = try call(limit)
            guard let pause = outcome.pause else { return (pauses, outcome.finished) }
            pauses.append(pause)
            try between(pause)
        }
        return (pauses, nil)
    }

    /// Returns the result of one run over a copy of the original store.
    func oneRun() throws -> (hash: String, outcome: MigrationOutcome) {
        let folder = try ScratchFolder()
        let copy = folder.path + "/forum.sqlite"
        try FileManager.default.copyItem(atPath: world.before, toPath: copy)
        let outcome = try Migrator().run(#require(try prepared(copy).migration()), on: copy)
        return (try SQLiteShell.run(copy, ".sha3sum --schema"), outcome)
    }

    func hash() throws -> String { try SQLiteShell.run(world.store, ".sha3sum --schema") }

    /// The folders that an unfinished run has left.
    func workFolders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: world.store + ".moult").filter { $0.hasPrefix("work") }
    }
}
