import MoultData
import NotesAndRestaurants
import TestSupport
import Testing

@Suite("Example Notes")
struct NotesTests {
    private struct Store {
        let folder: ScratchFolder
        let url: URL

        init() throws {
            folder = try ScratchFolder()
            url = URL(fileURLWithPath: folder.path + "/notes.store")
            try NotesSample.make(at: url)
        }

        func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
            ModelContext(
                try ModelContainer(
                    for: Schema(versionedSchema: version), migrationPlan: NotesPlan.self,
                    configurations: ModelConfiguration(url: url)))
        }

        func sql(_ text: String) throws -> String { try SQLiteShell.run(url.path, text) }
    }

    @Test func `the plan is sound`() throws { try NotesPlan.validate() }

    @Test func `the text is kept under its new name, and what is new has its defaults`() throws {
        let store = try Store()
        let before = try store.sql("SELECT ZTITLE, ZTEXT FROM ZNOTE ORDER BY Z_PK")
        let context = try store.open(NotesV2.self)
        let notes = try context.fetch(FetchDescriptor<NotesV2.Note>())
        #expect(notes.count == 3 && notes.allSatisfy { !$0.isFavourite })
        let restaurants = try context.fetch(FetchDescriptor<NotesV2.Restaurant>())
        #expect(!restaurants.isEmpty && restaurants.allSatisfy { $0.rating == 3 && $0.visits == nil })
        #expect(try store.sql("SELECT ZTITLE, ZCONTENT FROM ZNOTE ORDER BY Z_PK") == before)
    }

    @Test func `empty titles and categories are filled, and others stay`() throws {
        let context = try Store().open(NotesV3.self)
        let notes = try context.fetch(FetchDescriptor<NotesV3.Note>())
        #expect(
            Dictionary(uniqueKeysWithValues: notes.map { ($0.title, $0.wordCount) }) == [
                "Engine": 4, "Untitled Note": 0, "Cave": 4,
            ])
        let restaurants = try context.fetch(FetchDescriptor<NotesV2.Restaurant>())
        #expect(Set(restaurants.map(\.category)) == ["French", "Uncategorized"])
    }

    @Test func `a full name is split into first and last, and every note still has its author`() throws {
        let store = try Store()
        let context = try store.open(NotesV4.self)
        let authors = try context.fetch(FetchDescriptor<NotesV4.Author>(sortBy: [SortDescriptor(\.firstName)]))
        #expect(authors.map(\.firstName) == ["Ada", "Plato"] && authors.map(\.lastName) == ["King Lovelace", ""])
        #expect(authors.map { $0.notes.count } == [2, 1])
        #expect(
            try store.sql(
                "SELECT a.ZLASTNAME FROM ZNOTE n JOIN ZAUTHOR a ON a.Z_PK = n.ZAUTHOR WHERE n.ZTITLE = 'Engine'")
                == "King Lovelace\n")
    }

    @Test func `the commands of the README run as they stand there`() throws {
        let run = try ExampleRun("Notes")
        #expect(
            run.output(of: "notes-and-restaurants show").contains("Engine, 4 words, by King Lovelace, Ada"),
            "\(run.output)")
        #expect(run.output(of: "notes-and-restaurants show", 1) == run.output(of: "notes-and-restaurants show"))
    }
}
