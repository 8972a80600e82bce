import MoultCoreData

/// Makes the users of version 3: one for each userID, with titles and avatars that may be shown.
///
/// Who has become whom is asked of the migration's own store. A static dictionary would outlive the run, and hold
/// objects of a store that is closed.
public final class UserMigrationPolicy: EntityMigrationPolicy {
    public override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard let userID = source.string("userID"), !userID.isEmpty else {
            source.outcome = .quarantined(reason: "The user has no userID.")
            return
        }
        count(source, manager)
        let known = try manager.destinationObjects("User", where: "userID == %@", .string(userID), limit: 1).first
        if let survivor = known {
            let others = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [survivor])
            set(MergedUser(others + [source]), on: survivor)
            source.outcome = .merged(into: survivor)
        } else {
            set(MergedUser([source]), on: try manager.makeDestinationInstance(forSource: source))
        }
    }

    /// What the report says of avatars and titles that could not stay as they were.
    private func count(_ source: SourceObject, _ manager: MigrationManager) {
        switch source.string("avatarURL").map(Avatar.init) {
        case .dropped?: manager.count("avatars dropped")
        case .upgraded?: manager.count("avatars upgraded to https")
        case .kept?, nil: break
        }
        if let title = source.string("customTitleHTML"), HTMLCleaner.clean(title) != title {
            manager.count("custom titles cleaned")
        }
    }

    private func set(_ merged: MergedUser, on user: DestinationObject) {
        for (name, value) in merged.values { user[name] = value }
        user["customTitleHTML"] = merged.text("customTitleHTML").flatMap(HTMLCleaner.clean).map { .string($0) }
        user["avatarURL"] = merged.text("avatarURL").flatMap { Avatar($0).url }.map { .uri($0.absoluteString) }
        user["administrator"] = merged.values["administrator"] ?? false
        user["moderator"] = merged.values["moderator"] ?? false
    }
}
