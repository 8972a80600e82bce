import Foundation
import MoultCoreData

/// Everything of the app that its migrations call.
public enum ForumMigrations {
    /// - Parameter now: what a thread gets as its date that never had one.
    public static func registry(now: Date = Date()) -> MigrationRegistry {
        let now = now.timeIntervalSinceReferenceDate
        var registry = MigrationRegistry(models: ForumModel.versions)
        registry.register(policy: { ThreadMigrationPolicy(now: now) }, named: "ThreadMigrationPolicy")
        registry.register(policy: { UserMigrationPolicy() }, named: "UserMigrationPolicy")
        registry.register(mapping: tidied, from: "ForumReader 2", to: "ForumReader 3", named: "Tidied")
        registry.register(mapping: split, from: "ForumReader 3", to: "ForumReader 4", named: "Split")
        return registry
    }

    /// Threads and users by their policies, everything else as it is.
    static let tidied = MappingModel([
        EntityMapping(from: "Forum", to: "Forum"), EntityMapping(from: "Post", to: "Post"),
        EntityMapping(
            from: "Thread", to: "Thread", entityMigrationPolicyClassName: "ThreadMigrationPolicy",
            relationshipMappings: [PropertyMapping("author")]),
        EntityMapping(
            from: "User", to: "User", entityMigrationPolicyClassName: "UserMigrationPolicy",
            // The policy sets it: a text becomes a URI.
            attributeMappings: [PropertyMapping("avatarURL")], relationshipMappings: [PropertyMapping("threads")]),
    ])

    /// A name becomes two, by a closure in the one statement that carries all users over; the avatar of a user who has
    /// one becomes an object of its own.
    static let split = MappingModel([
        EntityMapping(from: "Forum", to: "Forum"), EntityMapping(from: "Post", to: "Post"),
        EntityMapping(from: "Thread", to: "Thread"),
        EntityMapping(
            from: "User", to: "User",
            attributeMappings: [
                PropertyMapping("firstName", from: "realName") { PersonName($0)?.first },
                PropertyMapping("lastName", from: "realName") { PersonName($0)?.last },
            ],
            relationshipMappings: [PropertyMapping("avatar")]),
        EntityMapping(
            from: "User", to: "Avatar",
            sourcePredicate: .comparison(
                .init(.keyPath("avatarURL"), .notEqual, .constant(.null))),
            attributeMappings: [PropertyMapping("url", .source("avatarURL"))],
            relationshipMappings: [
                PropertyMapping(
                    "user",
                    .destinationInstances(.ofEntityMapping, named: "UserToUser", for: .variable("source")))
            ]),
    ])
}
