import MoultData

public enum NotesPlan: SchemaMigrationPlan {
    public static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self, NotesV3.self, NotesV4.self] }
    public static var stages: [MigrationStage] { [renameText, fillEmpty, splitName] }

    static let renameText = MigrationStage.lightweight(fromVersion: NotesV1.self, toVersion: NotesV2.self)

    static let fillEmpty = MigrationStage.custom(
        fromVersion: NotesV2.self, toVersion: NotesV3.self,
        willMigrate: nil,
        didMigrate: { context in
            for note in try context.fetch(FetchDescriptor<NotesV3.Note>()) {
                if note.title.isEmpty { note.title = "Untitled Note" }
                note.wordCount = note.content.split(whereSeparator: \.isWhitespace).count
            }
            for restaurant in try context.fetch(FetchDescriptor<NotesV2.Restaurant>())
            where restaurant.category.isEmpty {
                restaurant.category = "Uncategorized"
            }
            try context.save()
        })

    static let splitName = MigrationStage.transform(from: NotesV3.Author.self, to: NotesV4.Author.self) { old, new in
        let names = old.fullName.split(separator: " ", maxSplits: 1).map(String.init)
        new.firstName = names.first ?? ""
        new.lastName = names.count > 1 ? names[1] : ""
    }
}
