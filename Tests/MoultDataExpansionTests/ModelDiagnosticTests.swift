import Testing

/// What `@Model` refuses, and where it says so.
@Suite struct ModelDiagnosticTests {
    @Test(arguments: ["struct", "enum", "actor"])
    func `only a class can be a model`(kind: String) {
        let expansion = MacroExpansion("@Model \(kind) Note {}")
        #expect(
            expansion.diagnostics == [
                "1:8 @Model can only be applied to a class, not to '\(kind)': only a class has an identity that a "
                    + "store can keep"
            ])
    }

    @Test func `a model needs an initialiser`() {
        #expect(
            MacroExpansion("@Model final class Note {\n    var title: String\n}").diagnostics
                == ["1:20 @Model requires an initializer be provided for 'Note'"])
        let child = MacroExpansion("@Model final class Puppy: Dog { var age: Int }", isSubclass: true)
        #expect(child.diagnostics == ["1:20 @Model requires an initializer be provided for 'Puppy'"])
    }

    /// Members of a class that starts on line 1, and what is said of them on line 2.
    @Test(arguments: [
        (
            "let title = \"\"",
            "2:1 warning: 'title' is a let with a value, which no store keeps: declare it as var, or mark it @Transient"
        ),
        (
            "lazy var title = \"\"",
            "2:10 'title' is lazy, which a store cannot fill: give it a plain value, or mark it @Transient"
        ),
        ("var a: Int, b: Int", "2:1 A persisted property needs a declaration of its own"),
        (
            "var title = \"\" { didSet {} }",
            "2:5 warning: 'title' has willSet or didSet, which a persisted property never calls: do the work in a "
                + "method, observe the model, or mark the property @Transient"
        ),
        (
            "var title = \"\" { willSet { print(newValue) } }",
            "2:5 warning: 'title' has willSet or didSet, which a persisted property never calls: do the work in a "
                + "method, observe the model, or mark the property @Transient"
        ),
        (
            "var description: String",
            "2:5 A stored property cannot be named 'description', which is Core Data's: take another name, and "
                + "@Attribute(originalName: \"description\") where a store has it already"
        ),
        (
            "@Transient var cache: Int",
            "2:1 @Transient property 'cache' needs a default value, which objects read from a store begin with"
        ),
        (
            "@Attribute(.unique) @Relationship var owner: Person?",
            "2:21 'owner' is marked both @Attribute and @Relationship: a property is one or the other"
        ),
        (
            "#Unique<Note>([])",
            "2:15 #Unique takes lists of key paths, such as #Unique<Item>([\\.name], [\\.shelf, \\.position])"
        ),
        (
            "#Index<Note>(names)",
            "2:14 #Index takes lists of key paths, such as #Index<Item>([\\.name], [\\.shelf, \\.position])"
        ),
    ])
    func `what cannot be kept is refused where it stands`(member: String, message: String) {
        let expansion = MacroExpansion("@Model final class Note {\n\(member)\ninit() {} }")
        #expect(expansion.diagnostics == [message])
    }

    @Test func `a let is fixed by an editor`() {
        let expansion = MacroExpansion("@Model final class Note {\nlet title = \"\"\ninit() {} }")
        #expect(expansion.fixes == ["declare it as var"])
    }

    @Test func `every fault of a model is said at once`() {
        let expansion = MacroExpansion("@Model final class Note {\nlet a = 1\nvar description = 1\nlazy var b = 2\n}")
        #expect(expansion.diagnostics.map { $0.prefix(3) } == ["2:1", "3:5", "4:10", "1:20"].map { $0.prefix(3) })
    }

    @Test(arguments: ["var description: String { \"\" }", "static var description = 1"])
    func `what is not stored may be named as it likes`(member: String) {
        #expect(MacroExpansion("@Model final class Note {\n\(member)\ninit() {} }").diagnostics.isEmpty)
    }

    @Test func `an inverse is named on one side only`() {
        let expansion = MacroExpansion(
            """
            @Model final class Node {
            @Relationship(inverse: \\Node.children) var parent: Node?
            @Relationship(inverse: \\Node.parent) var children: [Node] = []
            init() {}
            }
            """)
        #expect(
            expansion.diagnostics == [
                "3:1 'children' and 'parent' each name the other as inverse: name it on one side, the other follows"
            ])
    }
}
