import MoultBasics
import MoultModel
import MoultObjects
import TestSupport
import Testing

@testable import MoultEngine

/// What a policy does wrong ends the migration with its place, and the store is as it was.
@Suite("Policies that fail") struct PolicyFailureTests {
    /// Does something for just one thread, a late one.
    final class Late: EntityMigrationPolicy {
        let body: (SourceObject, DestinationObject, MigrationManager) throws -> Void
        init(_ body: @escaping (SourceObject, DestinationObject, MigrationManager) throws -> Void) { self.body = body }

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let thread = try manager.makeDestinationInstance(forSource: source)
            if source.string("title")?.hasSuffix(" 77") == true { try body(source, thread, manager) }
        }
    }

    struct Broken: Error {}

    private func failure(
        _ body: @escaping @Sendable (SourceObject, DestinationObject, MigrationManager) throws -> Void
    ) throws -> MigrationError {
        let world = try PolicyWorld()
        let mapping = PolicyWorld.mapping(users: nil, threads: "Threads")
        return try #require(try world.failure(["Threads": { Late(body) }], mapping: mapping))
    }

    @Test func `an error thrown at a late row names entity and key, with the cause`() throws {
        let error = try failure { _, _, _ in throw Broken() }
        #expect(error.code == .policyFailed)
        #expect(error.coreData?.number == 134170)
        #expect(error.place == "Thread 77")
        #expect(error.message.contains("ThreadToThread") && error.message.contains("Threads"))
        #expect(error.cause == "Broken()")
    }

    @Test func `a lack of room that a policy meets stays one, with the policy's place`() throws {
        let error = try failure { _, _, _ in
            throw MigrationError(.insufficientStorage, "The volume ran full.", remedy: "Free some space.")
        }
        #expect(error.code == .insufficientStorage && error.place == "Thread 77")
        #expect(error.message.contains("ThreadToThread") && error.remedy == "Free some space.")
    }

    @Test func `a name that the source or the new version does not have`() throws {
        #expect(try failure { source, _, _ in _ = source["unread"] }.place == "Thread 77.unread")
        #expect(try failure { _, thread, _ in thread["seenCount"] = 1 }.place == "Thread 77.seenCount")
        #expect(try failure { source, _, _ in _ = source.objects("title") }.place == "Thread 77.title")
        #expect(try failure { _, thread, _ in thread.setObject(nil, for: "tags") }.place == "Thread 77.tags")
    }

    @Test func `a value of another type is named with its property`() throws {
        let error = try failure { _, thread, _ in thread["unread"] = "many" }
        #expect(error.code == .policyFailed)
        #expect(error.place == "Thread 77.unread")
        #expect(error.message.contains("cannot hold a String") && !error.message.contains("many"))
        let read = try failure { source, _, _ in _ = source.integer("title") }
        #expect(read.place == "Thread 77.title")
        #expect(read.message.contains("it is a String") && !read.message.contains("&amp;"))
    }

    @Test func `a destination of an entity that the relationship does not lead to`() throws {
        let error = try failure { _, thread, manager in
            thread.setObject(try manager.insertObject(forEntityName: "Tag"), for: "starter")
        }
        #expect(error.place == "Thread 77.starter")
    }

    @Test func `nothing made and nothing said`() throws {
        final class Silent: EntityMigrationPolicy {
            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                if source.integer("userID") != 30 { _ = try manager.makeDestinationInstance(forSource: source) }
            }
        }
        let mapping = PolicyWorld.mapping(users: "Users", threads: nil)
        let error = try #require(try PolicyWorld().failure(["Users": { Silent() }], mapping: mapping))
        #expect(error.code == .policyFailed)
        #expect(error.place == "User 30")
        #expect(error.message.contains("Nothing was made"))
    }

    @Test func `an object that is dropped, and yet made`() throws {
        let error = try failure { source, _, _ in source.outcome = .dropped(reason: "spam") }
        #expect(error.place == "Thread 77")
        #expect(error.message.contains("dropped"))
    }

    @Test func `errors of the second pass, of validation and of the end are the policy's`() throws {
        final class Later: EntityMigrationPolicy {
            let phase: Int
            init(_ phase: Int) { self.phase = phase }
            override func createRelationships(
                forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws { if phase == 0, destination["userID"] == .integer(12) { throw Broken() } }
            override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                if phase == 1 { throw Broken() }
            }
            override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
                if phase == 2 { manager.cancelMigration(with: Broken()) }
            }
        }
        for phase in 0...2 {
            let mapping = PolicyWorld.mapping(users: "Users", threads: nil)
            let error = try #require(try PolicyWorld().failure(["Users": { Later(phase) }], mapping: mapping))
            #expect(error.code == .policyFailed)
            #expect(error.cause == "Broken()")
            #expect(error.place == (phase == 0 ? "User 12" : "UserToUser"))
        }
    }

    @Test func `a policy that is not registered is refused before anything is done`() throws {
        let error = try PolicyWorld().failure(["Users": { EntityMigrationPolicy() }])
        #expect(error?.code == .codeMissing)
        #expect(error?.message.contains("Threads") == true)
    }

    @Test func `a function of the policy that is called inside of another expression is refused by name`() throws {
        let world = try PolicyWorld()
        for format in [
            "uppercase:(FUNCTION($entityPolicy, 'clean:', $source.username))",
            "FUNCTION($entityPolicy, 'clean:', FUNCTION($entityPolicy, 'clean:', $source.username))",
        ] {
            var mapping = PolicyWorld.mapping(users: "Users", threads: nil)
            mapping.entityMappings[0].attributeMappings = [try PropertyMapping("username", format)]
            let error = try world.failure(["Users": { EntityMigrationPolicy() }], mapping: mapping)
            #expect(error?.message.contains("clean: is called inside") == true, "\(String(describing: error))")
        }
    }
}
