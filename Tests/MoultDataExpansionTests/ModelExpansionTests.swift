import Testing

@Suite struct ModelExpansionTests {
    @Test func `a class becomes a persistent, observable model`() {
        let expansion = MacroExpansion("@Model final class Note { var title: String\n init() { title = \"\" } }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(expansion.contains("extension Note: MoultData.PersistentModel, Observation.Observable, Hashable {}"))
        #expect(
            expansion.contains(
                "private var _$backingData: any MoultData.BackingData = MoultData.OwnValues()"))
        #expect(expansion.contains("let _$observationRegistrar = Observation.ObservationRegistrar()"))
        #expect(
            expansion.contains(
                """
                required init(backingData: any MoultData.BackingData) {
                    _title = MoultData._Kept()
                    _$backingData = backingData
                }
                """))
    }

    @Test func `the accessors of a property lead to the backing data and tell observers`() {
        let expansion = MacroExpansion("@Model final class Note { var title: String\n init() { title = \"\" } }")
        #expect(
            expansion.contains(
                """
                @storageRestrictions(accesses: _$backingData, initializes: _title)
                init(initialValue) {
                    MoultData._property(\\Note.title).write(initialValue, "title", to: _$backingData)
                    _title = MoultData._Kept()
                }
                get {
                    _$observationRegistrar.access(self, keyPath: \\Note.title)
                    return MoultData._property(\\Note.title).read("title", of: _$backingData)
                }
                set {
                    _$observationRegistrar.withMutation(of: self, keyPath: \\Note.title) {
                        MoultData._property(\\Note.title).write(newValue, "title", to: _$backingData)
                    }
                }
                """))
        #expect(expansion.contains("private var _title: MoultData._Kept"))
    }

    /// A property as the source has it, and what the description of the class says of it.
    @Test(arguments: [
        ("var count: Int", #"PropertyMetadata("count", \M.count, MoultData._property(\M.count)),"#),
        ("var count = 3", #"PropertyMetadata("count", \M.count, MoultData._property(\M.count), default: { 3 }),"#),
        ("var day: Date?", #"PropertyMetadata("day", \M.day, MoultData._property(\M.day)),"#),
        (
            "var status: Status = .draft",
            #"PropertyMetadata("status", \M.status, MoultData._property(\M.status), default: { .draft }),"#
        ),
        (
            "@Attribute(.unique, originalName: \"uid\", hashModifier: \"2\") var id: UUID",
            #"PropertyMetadata("id", \M.id, MoultData._property(\M.id), .attribute(.unique, originalName: "uid", hashModifier: "2")),"#
        ),
        (
            "@Relationship(deleteRule: .cascade, inverse: \\Tag.note) var tags: [Tag] = []",
            #"PropertyMetadata("tags", \M.tags, MoultData._property(\M.tags), default: { [] }, .relationship(deleteRule: .cascade, inverse: \Tag.note)),"#
        ),
        ("@Relationship var owner: Person?", #"MoultData._property(\M.owner), .relationship()),"#),
        (
            "@Attribute(.transformable(by: Colors.self)) var color: Color",
            #"MoultData._property(\M.color, transformedBy: Colors.self), .attribute(.transformable(by: Colors.self))),"#
        ),
        ("var `default`: Bool", #"PropertyMetadata("default", \M.`default`, MoultData._property(\M.`default`)),"#),
    ])
    func `a property is described`(property: String, described: String) {
        let expansion = MacroExpansion("@Model final class Note { \(property)\n init() {} }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(expansion.contains(described), "\(expansion.source)")
    }

    @Test(arguments: [
        "@Transient var cache = 0", "static let shared = 1", "static var count = 1", "var twice: Int { 2 }",
        "var both: Int { get { 1 } set {} }", "func save() {}", "@Transient let fixed = 1", "@Transient var c: Int?",
    ])
    func `what no store keeps stays as it is`(member: String) {
        let expansion = MacroExpansion("@Model final class Note { \(member)\n init() {} }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(!expansion.contains("PropertyMetadata(\""))
        #expect(!expansion.contains("@storageRestrictions"))
    }

    @Test func `constraints and indexes become key paths of the class`() {
        let expansion = MacroExpansion(
            """
            @Model final class Note {
                #Unique<Note>([\\.title], [\\.shelf, \\.position])
                #Index<Note>([\\.title], [\\.shelf, \\.title])
                #Index<Note>(.rtree([\\.place]))
                var title: String
                init() {}
            }
            """)
        #expect(expansion.contains(#"uniqueness: [[\Note.title], [\Note.shelf, \Note.position]]"#))
        #expect(
            expansion.contains(
                #"indices: [.binary([\Note.title]), .binary([\Note.shelf, \Note.title]), .rtree([\Note.place])]"#))
    }

    @Test func `a model that inherits hands on to its parent`() {
        let expansion = MacroExpansion(
            "@Model class Dog: Animal { var bark: Int\n init() { bark = 1; super.init() } }", isSubclass: true)
        #expect(expansion.diagnostics.isEmpty)
        #expect(!expansion.contains("extension Dog"))
        #expect(!expansion.contains("_$observationRegistrar = "))
        #expect(expansion.contains("override class var schemaMetadata"))
        #expect(expansion.contains("Animal._$properties(of: M.self) + ["))
        #expect(expansion.contains("parent: Animal.self"))
        #expect(expansion.contains("super.init(backingData: backingData)"))
    }

    @Test func `a child without properties or initialisers inherits its parent's`() {
        let expansion = MacroExpansion("@Model class Puppy: Dog {}", isSubclass: true)
        #expect(expansion.diagnostics.isEmpty)
        #expect(!expansion.contains("init(backingData:"))
    }

    @Test(arguments: [
        ("public ", "public ", "public "), ("open ", "public ", "open "), ("package ", "package ", "package "),
        ("", "", ""),
    ])
    func `what is made is seen where the class is`(modifier: String, required: String, overridable: String) {
        let expansion = MacroExpansion("@Model \(modifier)class Note { \(modifier)init() {} }")
        #expect(expansion.source.contains("\n    \(required)required init(backingData:"))
        #expect(expansion.source.contains("\n    \(overridable)class var schemaMetadata"))
        #expect(expansion.source.contains("\n    \(overridable)var persistentBackingData"))
    }
}
