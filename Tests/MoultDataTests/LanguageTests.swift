import Testing

/// The kinds of source that models stand in, each compiled as an app of that kind would be.
@Suite struct LanguageTests {  // tier: long
    private static let models = """
        @Model final class Note {
            var title: String
            var replies: [Note] = []
            private(set) var count: Int? = 0
            init(title: String) { self.title = title }
        }
        enum NotesV1: VersionedSchema {
            static KEYWORD versionIdentifier = Schema.Version(1, 0, 0)
            static var models: [any PersistentModel.Type] { [Tag.self] }
            @Model class Tag: Identifiable, Equatable {
                var title: String
                init(title: String) { self.title = title }
            }
        }
        func entities() -> [String] { Schema(Note.self).entities.map(\\.name) }
        """

    @Test(arguments: [
        ("var", "-swift-version 5"), ("var", "-swift-version 5 -strict-concurrency=complete"),
        ("let", "-swift-version 6"), ("let", "-swift-version 6 -default-isolation MainActor"),
        ("let", "-swift-version 6 -enable-upcoming-feature MemberImportVisibility"),
        ("let", "-swift-version 6 -enable-upcoming-feature InternalImportsByDefault"),
        ("let", "-swift-version 6 -enable-upcoming-feature ExistentialAny"),
    ])
    func `models compile without a warning in every mode`(keyword: String, flags: String) throws {
        let check = try CompilerCheck(
            Self.models.replacing("KEYWORD", with: keyword), flags)
        #expect(check.errors.isEmpty)
        // A mutable versionIdentifier is the source's own, not the macro's.
        #expect(check.warnings.filter { !$0.contains("static property 'versionIdentifier'") } == [])
    }

    @Test(arguments: ["5", "6"])
    func `a model of the main actor compiles`(version: String) throws {
        let check = try CompilerCheck(
            """
            @MainActor @Model final class Note {
                var title: String
                @Transient var seen = 0
                init(title: String) { self.title = title }
            }
            @MainActor func make() -> PersistentIdentifier { Note(title: "a").persistentModelID }
            """, "-swift-version \(version)")
        #expect(check.errors.isEmpty && check.warnings.isEmpty)
    }

    @Test func `the import brings Foundation and Observation, and nothing of Core Data or of Moult's model`() throws {
        let check = try CompilerCheck(
            """
            let date: Date = .now, url: URL? = nil, predicate = #Predicate<Int> { $0 > 1 }
            @Observable final class Plain { var x = 0 }
            let context: ManagedObjectContext? = nil
            let container: PersistentContainer? = nil
            let model: EntityDescription? = nil
            """, "-swift-version 6")
        #expect(
            check.errors == [
                "cannot find type 'ManagedObjectContext' in scope", "cannot find type 'PersistentContainer' in scope",
                "cannot find type 'EntityDescription' in scope",
            ])
    }

    @Test func `what a property cannot be is an error of the compiler`() throws {
        let noCodable = try CompilerCheck(
            """
            struct Place { var name = "" }
            @Model final class Note {
                var place: Place
                init(place: Place) { self.place = place }
            }
            """)
        #expect(
            noCodable.errors == [
                "'_property' is unavailable: a persisted property has to be Codable, a model, or a collection of models; "
                    + "or mark it @Transient"
            ])
        let both = try CompilerCheck(
            """
            @Model final class Note {
                @Relationship(inverse: \\Tag.notes) var tags: [Tag] = []
                init() {}
            }
            @Model final class Tag {
                @Relationship(inverse: \\Note.tags) var notes: [Note] = []
                init() {}
            }
            """)
        #expect(both.errors.contains { $0.contains("circular reference") }, "\(both.errors)")
        #expect(
            try CompilerCheck("@Model struct Note { var a = 1 }").errors.contains { $0.contains("applied to a class") })
        #expect(
            try CompilerCheck("@Model final class Note { var a: Int }").errors.contains {
                $0.contains("requires an init")
            })
    }
}
