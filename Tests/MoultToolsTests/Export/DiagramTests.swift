import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

@Suite("Diagrams")
struct DiagramTests {  // tier: long
    /// Every line of the Mermaid that Moult writes, by the grammar of https://mermaid.js.org/syntax/classDiagram.html
    /// and flowchart.html: a name, a label of letters, digits, blanks and `#number;`, and nothing else.
    private static let text = ##"(?:[^\x00-\x1F"#;:<>{}\[\]()|`%&~*$+\-=\\/,.]|#[0-9]+;)+"##
    private static let statements = [
        #"%% (?!.*%\{).*"#, #"classDiagram"#, #"  note "TEXT""#, #"flowchart LR"#, #"  class e\d+\["TEXT"\]"#,
        #"  <<[a-z]+>> e\d+"#,
        #"  e\d+ : TEXT"#, #"  style e\d+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}"#,
        #"  e\d+ <\|-- e\d+"#, #"  e\d+ "[0-9.*]+" -- "[0-9.*]+" e\d+ : TEXT"#, #"  subgraph g\d+\["TEXT"\]"#,
        #"  end"#,
        #"    (e\d+|legend)\["TEXT(<br>TEXT)*"\]"#, #"  e\d+ -->(\|"TEXT"\|)? e\d+"#, #"  e\d+ --- e\d+"#,
    ].map { "^" + $0.replacingOccurrences(of: "TEXT", with: text) + "$" }

    private func strangeLines(_ mermaid: String) throws -> [String] {
        let patterns = try Self.statements.map { try NSRegularExpression(pattern: $0) }
        return mermaid.split(separator: "\n").map(String.init).filter { line in
            let range = NSRange(line.startIndex..., in: line)
            return !patterns.contains { $0.firstMatch(in: line, range: range) != nil }
        }
    }

    private func expectDrawn(_ diagram: Diagram, _ comment: Comment) throws {
        #expect(try strangeLines(diagram.mermaid) == [], comment)
        guard ChildProcess.hasGraphviz else { return }
        let svg = try Graphviz.svg(diagram)
        #expect(svg.contains("</svg>"), comment)
        #expect(svg.components(separatedBy: "class=\"node\"").count - 1 == diagram.boxes.count, comment)
        #expect(svg.components(separatedBy: "class=\"edge\"").count - 1 == diagram.links.count, comment)
    }

    @Test func `a model is drawn with its inheritance, counts, delete rules and order, each pair once`() throws {
        let model = try SampleStore.makeModel()
        let diagram = try Diagram(model, title: "m")
        #expect(diagram.boxes.map(\.title).sorted() == model.entities.map(\.name).sorted())
        let labels = Set(diagram.links.map(\.label))
        #expect(labels.contains("ingredients (ordered, Nullify) / dish (Nullify)"))
        #expect(labels.contains("tags (ordered, Nullify) / dishes (Nullify)"))
        #expect(labels.contains("goesWith (Nullify) / goesWith (Nullify)"))
        #expect(diagram.links.filter { $0.kind == .inheritance }.count == 1 && diagram.links.count == 4)
        #expect(diagram.mermaid.contains("e0 \"0..1\" -- \"0..*\" e"))
        try expectDrawn(diagram, "sample")
    }

    @Test func `names that end strings, labels and statements stay names`() throws {
        let name = SampleStore.hostile
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: name, isAbstract: true,
                attributes: [.init(name: name, type: .string, defaultValue: .string(name))],
                relationships: [.init(name: name + "2", destinationEntityName: name)]),
            EntityDescription(name: "end", attributes: [.init(name: "\u{FFFE}\u{202E}classDiagram", type: .date)]),
        ])
        let diagram = try Diagram(model, title: name)
        try expectDrawn(diagram, "hostile")
        // The title is in a comment, which nothing ends.
        let drawn = diagram.mermaid.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(!drawn.contains("DROP TABLE ZDISH --") && drawn.contains("DROP TABLE ZDISH"))
        let directive = Diagram(title: "%%{init: {}}%%\n%%{wrap}").mermaid
        #expect(!directive.contains("%{") && directive.split(separator: "\n").count == 3, "\(directive)")
        let plan = Diagram(
            title: name, boxes: [.init(name, lines: [.init(name, .removed)], group: name), .init(name, group: name)],
            links: [.init(from: 0, to: 1, kind: .flow, label: name)])
        try expectDrawn(plan, "hostile flow")
    }

    @Test func `a part of a model is an entity and what is so many steps away`() throws {
        let model = try SampleStore.makeModel()
        func names(_ choice: Diagram.EntityChoice) throws -> [String] {
            try Diagram(model, title: "", choice: choice).boxes.map(\.title).sorted()
        }
        #expect(try names(.around(["Soup"], depth: 0)) == ["Soup"])
        #expect(try names(.around(["Soup"], depth: 1)) == ["Dish", "Soup"])
        #expect(try names(.around(["Soup"], depth: 2)) == ["Dish", "Ingredient", "Soup", "Tag"])
        #expect(try names(.around(["Soup", "ZDISH"], depth: 9)).count == 5)
        #expect(throws: MigrationError.self) { try names(.around(["Nobody"], depth: 1)) }
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `a model of 200 entities is drawn whole, and a part of it is small`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var parents: [Int: Int] = [:]
        var relationships: [Int: [RelationshipDescription]] = [:]
        for number in 1..<200 {
            if Int.random(in: 0..<4, using: &generator) == 0 {
                parents[number] = Int.random(in: max(0, number - 8)..<number, using: &generator)
            }
            for place in 0..<Int.random(in: 1...2, using: &generator) {
                let other = Int.random(in: max(0, number - 12)..<min(200, number + 12), using: &generator)
                let (name, inverse) = ("to\(other)At\(place)From\(number)", "from\(number)At\(place)")
                relationships[number, default: []].append(
                    .init(name: name, destinationEntityName: "E\(other)", inverseName: inverse))
                relationships[other, default: []].append(
                    .init(name: inverse, destinationEntityName: "E\(number)", inverseName: name, maxCount: 0))
            }
        }
        let model = try ManagedObjectModel(
            entities: (0..<200).map { number in
                EntityDescription(
                    name: "E\(number)", superentityName: parents[number].map { "E\($0)" },
                    attributes: [.init(name: "title\(number)", type: .string)],
                    relationships: relationships[number] ?? [])
            })
        try expectDrawn(try Diagram(model, title: "large"), "seed \(seed)")
        let part = try Diagram(model, title: "part", choice: .around(["E100"], depth: 1))
        #expect(part.boxes.count < 20)
        try expectDrawn(part, "seed \(seed)")
    }

    @Test func `a difference shows what was added, removed, renamed and changed`() throws {
        let older = ModelVersion(
            names: ["1"],
            model: try ManagedObjectModel(
                """
                A = gone String, age Integer16, old String
                Lost
                Same
                """))
        let newer = ModelVersion(
            names: ["2"],
            model: try ManagedObjectModel(
                """
                A = age Integer64, fresh String, new String was=old, same > Same
                Born
                Same
                """))
        let diagram = try Diagram(from: older, to: newer, ModelDiff(from: older, to: newer))
        let a = try #require(diagram.boxes.first { $0.title == "A" })
        func mark(_ word: String) -> Diagram.Mark? { a.lines.first { $0.text.hasPrefix(word) }?.mark }
        #expect(mark("age Integer 64?, was Integer 16") == .changed, "\(a.lines)")
        #expect(
            mark("fresh") == .added && mark("gone") == .removed && mark("new String?, was old") == .renamed,
            "\(a.lines)")
        #expect(mark("same → Same") == .added)
        let marks = Dictionary(uniqueKeysWithValues: diagram.boxes.map { ($0.title, $0.mark) })
        #expect(marks == ["A": .changed, "Born": .added, "Lost": .removed, "Same": .none])
        #expect(diagram.boxes.first { $0.title == "Same" }?.lines.isEmpty == true)
        try expectDrawn(diagram, "difference")
    }

    @Test func `signs are explained where they occur, and a history has none of changes`() throws {
        let older = ModelVersion(names: ["1"], model: try ManagedObjectModel("A = x String, y String"))
        let newer = ModelVersion(names: ["2"], model: try ManagedObjectModel("A = x String, z String was=y, n Date"))
        let diagram = try Diagram(from: older, to: newer, ModelDiff(from: older, to: newer))
        for text in [diagram.dot, diagram.mermaid.replacingOccurrences(of: "#43;", with: "+")] {
            #expect(text.contains("+ added") && text.contains("renamed") && !text.contains("removed"), "\(text)")
        }
        // The mark of the store's version is none of a change.
        let history = Diagram(history: [], store: "s", now: "2", versions: ["1", "2"])
        #expect(!history.mermaid.contains("legend") && !history.dot.contains("added"))
    }

    @Test func `a default is shown as its type has it, an empty one too`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "A",
                attributes: [
                    .init(name: "code", type: .string, defaultValue: ""),
                    .init(name: "name", type: .string, defaultValue: "none"),
                    .init(name: "count", type: .integer32, defaultValue: 3),
                    .init(name: "text", type: .string, defaultValue: .string(String(repeating: "é", count: 99))),
                ])
        ])
        let lines = try Diagram(model, title: "").boxes[0].lines
        #expect(
            lines.map(\.text).sorted() == [
                "code String? default \"\"", "count Integer 32? default 3", "name String? default \"none\"",
                "text String? default \"\(String(repeating: "é", count: 30))…\"",
            ], "\(lines)")
        try expectDrawn(try Diagram(model, title: ""), "defaults")
    }

    @Test func `a model without entities, and versions without a difference, are pictures too`() throws {
        let model = try ManagedObjectModel(entities: [])
        let diagram = try Diagram(model, title: "")
        #expect(diagram.mermaid == "%%  \nclassDiagram\n  note \"There is nothing to draw\"\n")
        let version = ModelVersion(names: ["1"], model: model)
        let difference = try Diagram(from: version, to: version, ModelDiff(from: version, to: version))
        try expectDrawn(difference, "no difference")
    }

    @Test func `a program that is not there is named with the command that installs it`() throws {
        do {
            _ = try Graphviz.svg(Diagram(title: "x"), program: "no-such-dot")
            Issue.record("drawn by nothing")
        } catch let error as MigrationError {
            #expect(error.code == .unsupported && error.remedy.contains("apt-get install graphviz"))
        }
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `models of the corpus are drawn`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".xcdatamodeld") }
        let chosen = Corpus.sample(bundles, every: 9)
        var drawn = 0
        for bundle in chosen {
            // Four bundles of the corpus are kept without their versions.
            guard let versions = try? Corpus.versions(bundle).versions, let newest = versions.last else { continue }
            drawn += 1
            try expectDrawn(try Diagram(newest.model, title: bundle), "\(bundle)")
            if let oldest = versions.first, versions.count > 1 {
                let diff = try ModelDiff(from: oldest, to: newest)
                try expectDrawn(try Diagram(from: oldest, to: newest, diff), "\(bundle)")
            }
        }
        #expect(drawn > 0 && drawn >= chosen.count - 4)
    }
}
