import MoultCoreData

/// Makes the threads of version 3: what the mapping copies, and what only code can say.
public final class ThreadMigrationPolicy: EntityMigrationPolicy {
    /// What a thread gets that never had a date: when the migration began, in seconds since 2001.
    private let now: Double

    init(now: Double) { self.now = now }

    public override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        // By this call the mapping's own expressions run; a policy that leaves it out has to copy everything itself.
        let thread = try manager.makeDestinationInstance(forSource: source)
        thread["title"] = source.string("title").map { .string(HTMLEntities.decoded($0)) }
        let unread = (source.integer("numberOfPosts") ?? 0) - (source.integer("seenPosts") ?? 0)
        thread["totalUnreadPosts"] = .integer(max(0, unread))
        thread["isPinned"] = false
        // A date that is there stays.
        if source.date("lastModifiedDate") == nil { thread["lastModifiedDate"] = .date(now) }
    }

    /// Finds the author in the second pass, when every user is there. One who is not known leaves the thread without
    /// an author, and with the `authorUserID` that it has.
    public override func createRelationships(
        forDestination thread: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: thread, in: mapping, manager: manager)
        guard case .string(let userID) = thread["authorUserID"] else { return }
        let author = try manager.destinationObjects("User", where: "userID == %@", .string(userID), limit: 1).first
        if author == nil { manager.count("authors unknown") }
        thread.setObject(author, for: "author")
    }
}
