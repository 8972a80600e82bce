import MoultData

/// A store of the first version, as its users have it.
public enum NotesSample {
    public static func make(at url: URL) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: NotesV1.self), configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let ada = NotesV1.Author(fullName: "Ada King Lovelace")
        let plato = NotesV1.Author(fullName: "Plato")
        for note in [
            NotesV1.Note(title: "Engine", text: "It weaves algebraical patterns", author: ada),
            NotesV1.Note(title: "", text: "  ", author: ada),
            NotesV1.Note(title: "Cave", text: "Shadows on the wall", author: plato),
        ] { context.insert(note) }
        context.insert(NotesV1.Restaurant(name: "Chez Marie", category: "French"))
        context.insert(NotesV1.Restaurant(name: "The Corner", category: ""))
        try context.save()
    }
}

/// What the app shows, from a store of any version.
public enum NotesList {
    public static func lines(ofStoreAt url: URL) throws -> [String] {
        let container = try ModelContainer(
            for: Schema(versionedSchema: NotesV4.self), migrationPlan: NotesPlan.self,
            configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let notes = try context.fetch(FetchDescriptor<NotesV4.Note>(sortBy: [SortDescriptor(\.title)])).map { note in
            let author = [note.author?.lastName, note.author?.firstName].compactMap(\.self).filter { !$0.isEmpty }
            return "\(note.title), \(note.wordCount) words, by \(author.joined(separator: ", "))"
        }
        let restaurants = try context.fetch(FetchDescriptor<NotesV2.Restaurant>(sortBy: [SortDescriptor(\.name)]))
        return notes + restaurants.map { "\($0.name): \($0.category)" }
    }
}
