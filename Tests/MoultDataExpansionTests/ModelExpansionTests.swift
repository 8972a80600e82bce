import Foundation
import Testing

@Suite struct ModelExpansionTests {  // tier: long
    @Test func `a class becomes a persistent, observable model`() {
        let expansion = MacroExpansion("@Model final class Note { var title: String\n init() { title = \"\" } }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(
            expansion.contains(
                "nonisolated extension Note: MoultData.PersistentModel, Observation.Observable, Hashable {}"))
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

    @Test func `a class says where it and its properties are declared`() {
        let expansion = MacroExpansion(
            "@Model\nfinal class Note {\n    @Attribute(.unique)\n    var title: String\n    var `default`: Int = 1\n    init() { title = \"\" }\n}"
        )
        #expect(
            expansion.contains(
                """
                declaration: MoultData.Schema.SourceDeclaration(
                    file: "App/App.swift", line: 2, properties: ["title": 4, "default": 5])
                """), "\(expansion.source)")
    }

    @Test func `the accessors of a property lead to the backing data and tell observers`() {
        let expansion = MacroExpansion("@Model final class Note { var title: String\n init() { title = \"\" } }")
        #expect(
            expansion.contains(
                """
                @storageRestrictions(accesses: _$backingData, initializes: _title)
                init(initialValue) {
                    Note._$kept_title.write(initialValue, "title", to: _$backingData)
                    _title = MoultData._Kept()
                }
                get {
                    _$observationRegistrar.access(self, keyPath: \\Note.title)
                    return Note._$kept_title.read("title", of: _$backingData)
                }
                set {
                    _$observationRegistrar.withMutation(of: self, keyPath: \\Note.title) {
                        Note._$kept_title.write(newValue, "title", to: _$backingData)
                    }
                    _$backingData._wasWritten(by: self)
                }
                """))
        #expect(expansion.contains("private var _title: MoultData._Kept"))
        #expect(expansion.contains(#"private static let _$kept_title = MoultData._property(\Note.title)"#))
    }

    /// A property as the source has it, and what the description of the class says of it.
    @Test(arguments: [
        ("var count: Int", #"PropertyMetadata("count", \_MoultModel.count, Note._$kept_count),"#),
        ("var count = 3", #"PropertyMetadata("count", \_MoultModel.count, Note._$kept_count, default: { 3 }),"#),
        ("var day: Date?", #"PropertyMetadata("day", \_MoultModel.day, Note._$kept_day),"#),
        (
            "var status: Status = .draft",
            #"PropertyMetadata("status", \_MoultModel.status, Note._$kept_status, default: { .draft }),"#
        ),
        (
            "@Attribute(.unique, originalName: \"uid\", hashModifier: \"2\") var id: UUID",
            #"PropertyMetadata("id", \_MoultModel.id, Note._$kept_id, .attribute(.unique, originalName: "uid", hashModifier: "2")),"#
        ),
        (
            "@Relationship(deleteRule: .cascade, inverse: \\Tag.note) var tags: [Tag] = []",
            #"PropertyMetadata("tags", \_MoultModel.tags, Note._$kept_tags, default: { [] }, .relationship(deleteRule: .cascade, inverse: \Tag.note)),"#
        ),
        ("@Relationship var owner: Person?", #"Note._$kept_owner, .relationship()),"#),
        (
            "@Attribute(.transformable(by: Colors.self)) var color: Color",
            #"Note._$kept_color, .attribute(.transformable(by: Colors.self))),"#
        ),
        ("var `default`: Bool", #"PropertyMetadata("default", \_MoultModel.`default`, Note._$kept_default),"#),
    ])
    func `a property is described`(property: String, described: String) {
        let expansion = MacroExpansion("@Model final class Note { \(property)\n init() {} }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(expansion.contains(described), "\(expansion.source)")
    }

    /// Every type that a property can have; the compiler chooses how it is kept when the program is compiled.
    @Test(arguments: [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
        "Bool", "String", "Date", "Data", "UUID", "URL", "Decimal", "Status", "Place", "[String]", "Array<Int>",
        "[Status]", "[String: Int]", "Set<String>", "Part", "[Part]", "Set<Part>", "Outer.Part", "Optional<Int>",
    ])
    func `a property of every type is kept, optional or not, with a default or without`(type: String) {
        for declaration in ["x: \(type)", "x: \(type)?", "x: \(type)!", "x: \(type) = .value", "x: \(type)? = nil"] {
            let expansion = MacroExpansion("@Model final class Note { var \(declaration)\n init() {} }")
            #expect(expansion.diagnostics.isEmpty)
            let initial = declaration.components(separatedBy: " = ").dropFirst().first
            let described = initial.map { ", default: { \($0) }" } ?? ""
            #expect(
                expansion.contains(#"PropertyMetadata("x", \_MoultModel.x, Note._$kept_x\#(described)),"#),
                "\(expansion.source)")
            #expect(expansion.contains(#"Note._$kept_x.write(newValue, "x", to: _$backingData)"#))
            #expect(expansion.contains(#"private static let _$kept_x = MoultData._property(\Note.x)"#))
            #expect(expansion.contains("private var _x: MoultData._Kept"))
        }
    }

    @Test(arguments: ["private ", "private(set) ", "fileprivate ", "public internal(set) ", "package "])
    func `who may see a property changes nothing of how it is kept`(modifier: String) {
        let expansion = MacroExpansion("@Model final class Note { \(modifier)var x: Int\n init() {} }")
        #expect(expansion.diagnostics.isEmpty && expansion.contains(#"PropertyMetadata("x", \_MoultModel.x,"#))
    }

    /// The body of an initialiser, and what becomes of it.
    @Test(arguments: [
        ("init() { box = nil }", "init() { box = nil\n _$backingData._wasWritten(by: self) }"),
        (
            "init() { if a { box = nil; return }\n box = b }",
            "init() { defer { _$backingData._wasWritten(by: self) }\n if a { box = nil; return }\n box = b }"
        ),
        ("init?() { return nil }", "init?() { return nil }"),
        ("init() throws { if a { return }\n throw E() }", "init() throws { if a { return }\n throw E() }"),
        ("init() { fatalError() }", "init() { fatalError() }"),
        ("convenience init() { self.init(1) }", "init() { self.init(1)\n _$backingData._wasWritten(by: self) }"),
    ])
    func `an initialiser says when the model is there`(initializer: String, expanded: String) {
        let expansion = MacroExpansion("@Model final class Note { var box: Box?\n \(initializer) }")
        #expect(expansion.contains(expanded), "\(expansion.source)")
    }

    @Test func `the initialiser of a class that leads to no model stays as it is`() {
        let expansion = MacroExpansion(
            "@Model final class Note { var a: String\n var b: [Int]?\n var c = 1\n init() { a = \"\" } }")
        #expect(expansion.contains("init() { a = \"\" }"), "\(expansion.source)")
    }

    @Test func `a model of the main actor is asked there`() {
        let expansion = MacroExpansion("@MainActor @Model final class Note { init() {} }")
        #expect(expansion.source.contains("\nextension Note: @preconcurrency MoultData.PersistentModel, "))
    }

    @Test(arguments: [
        "@Transient var cache = 0", "static let shared = 1", "static var count = 1", "class var three: Int { 3 }",
        "var twice: Int { 2 }",
        "var both: Int { get { 1 } set {} }", "func save() {}", "@Transient let fixed = 1", "@Transient var c: Int?",
        "@Transient var c: Int!", "@MoultData.Transient var d = 1",
        "@Transient var seen = 0 { didSet {} }",
    ])
    func `what no store keeps stays as it is`(member: String) {
        let expansion = MacroExpansion("@Model final class Note { \(member)\n init() {} }")
        #expect(expansion.diagnostics.isEmpty)
        #expect(!expansion.contains("PropertyMetadata(\""))
        #expect(!expansion.contains("@storageRestrictions"))
    }

    @Test func `a transformer is named where the property is chosen`() {
        let expansion = MacroExpansion(
            "@Model final class Note { @Attribute(.transformable(by: Colors.self)) var color: Color\n init() {} }")
        #expect(
            expansion.contains(
                #"_$kept_color = MoultData._property(\Note.color, transformedBy: Colors.self)"#), "\(expansion.source)")
    }

    @Test func `a property that is kept encoded is chosen as such`() {
        let expansion = MacroExpansion(
            "@Model final class Note { @Attribute(.codable, originalName: \"a\") var place: Place\n init() {} }")
        #expect(expansion.contains(#"_$kept_place = MoultData._encodedProperty(\Note.place)"#), "\(expansion.source)")
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
        #expect(expansion.contains("override class var schemaMetadata: MoultData.Schema.ModelMetadata { _$metadata }"))
        #expect(expansion.contains("Animal._$properties(of: _MoultModel.self) + ["))
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
