import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultTools
import TestSupport
import Testing

@Suite("Pictures of large models")
struct DiagramOverviewTests {
    /// A rectangle of the picture, in points.
    private struct Area {
        let (left, right, lower, upper): (Double, Double, Double, Double)

        func overlaps(_ other: Area) -> Bool {
            left < other.right && other.left < right && lower < other.upper && other.lower < upper
        }

        func contains(_ other: Area) -> Bool {
            left <= other.left && other.right <= right && lower <= other.lower && other.upper <= upper
        }
    }

    /// The places of the nodes whose names begin with a letter, as Graphviz gets them.
    private func areas(_ dot: String, _ letter: String) throws -> [Area] {
        let number = "(-?[0-9.]+)"
        let pattern = try Regex("  \(letter)[0-9]+ \\[.*width=\(number), height=\(number), pos=\"\(number),\(number)\"")
        return dot.matches(of: pattern).map { match in
            let values = (1...4).compactMap { match.output[$0].substring.flatMap { Double($0) } }
            let (width, height) = (values[0] * 72, values[1] * 72)
            return Area(
                left: values[2] - width / 2, right: values[2] + width / 2, lower: values[3] - height / 2,
                upper: values[3] + height / 2)
        }
    }

    private func diagram(_ count: Int, _ links: [(Int, Int)]) -> Diagram {
        Diagram(
            title: "large", boxes: (0..<count).map { .init("Entity\($0)", kind: "entity", lines: [.init("x")]) },
            links: links.map {
                .init(from: $0.0, to: $0.1, kind: .relationship(near: .init(least: 0), far: .init(least: 0, most: 1)))
            })
    }

    @Test func `thirty entities are drawn with their attributes, and one more is a large model`() {
        #expect(!diagram(30, []).isLarge && diagram(31, []).isLarge)
        let steps = Diagram(
            title: "", boxes: (0..<40).map { .init("\($0)", group: "versions") },
            links: (1..<40).map { .init(from: $0 - 1, to: $0, kind: .flow) })
        #expect(!steps.isLarge, "a sequence has no clusters")
    }

    @Test func `clusters are found again where they were planted`() {
        // Five stars of nine, in an order that mixes them, each with a link to the next, and two alone.
        func place(_ star: Int, _ member: Int) -> Int { member * 5 + star }
        var links: [(Int, Int)] = []
        for star in 0..<5 {
            links += (1..<9).map { (place(star, 0), place(star, $0)) }
            if star > 0 { links.append((place(star - 1, 3), place(star, 0))) }
        }
        let overview = diagram(47, links).overview
        var groups: [String: Set<String>] = [:]
        for box in overview.boxes { groups[box.group ?? "none", default: []].insert(box.title) }
        var expected: [String: Set<String>] = ["none": ["Entity45", "Entity46"]]
        for star in 0..<5 { expected["Entity\(star)"] = Set((0..<9).map { "Entity\(place(star, $0))" }) }
        #expect(groups == expected)
        #expect(overview.boxes.allSatisfy { $0.lines.isEmpty } && overview.links.count == links.count)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `every name has a place of its own in one frame, on a page that is no strip`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 31...140, using: &generator)
        let links = (0..<Int.random(in: 0...count, using: &generator)).map { _ in
            (Int.random(in: 0..<count, using: &generator), Int.random(in: 0..<count, using: &generator))
        }
        let diagram = diagram(count, links)
        let overview = diagram.overview
        #expect(overview.boxes.map(\.title).sorted() == diagram.boxes.map(\.title).sorted(), "seed \(seed)")
        // A pair of different entities has one line.
        func pairs(_ diagram: Diagram) -> [[String]] {
            diagram.links.map { [diagram.boxes[$0.from].title, diagram.boxes[$0.to].title].sorted() }
        }
        #expect(
            pairs(overview).sorted { $0.joined() < $1.joined() }
                == Set(pairs(diagram).filter { $0[0] != $0[1] }).sorted { $0.joined() < $1.joined() })
        let (names, frames) = (try areas(overview.dot, "e"), try areas(overview.dot, "g"))
        #expect(names.count == count)
        for (place, name) in names.enumerated() {
            #expect(!names[..<place].contains { $0.overlaps(name) }, "seed \(seed), name \(place)")
            #expect(frames.count { $0.contains(name) } == 1, "seed \(seed), name \(place)")
        }
        for (place, frame) in frames.enumerated() {
            #expect(!frames[..<place].contains { $0.overlaps(frame) }, "seed \(seed), frame \(place)")
        }
        let width = try #require(frames.map(\.right).max()) - (try #require(frames.map(\.left).min()))
        let height = try #require(frames.map(\.upper).max()) - (try #require(frames.map(\.lower).min()))
        #expect((0.6...3).contains(width / height), "seed \(seed): \(width) × \(height)")
        #expect(diagram.overview.dot == overview.dot, "the same each time")
    }

    @Test func `of a large neighbourhood, the named entities keep their attributes`() {
        let star = diagram(41, (1...40).map { (0, $0) })
        let condensed = star.condensed(around: ["Entity0"])
        #expect(condensed.boxes.filter { !$0.lines.isEmpty }.map(\.title) == ["Entity0"])
        #expect(condensed.links == star.links)
        let small = diagram(30, (1..<30).map { (0, $0) })
        #expect(small.condensed(around: ["Entity0"]) == small)
    }

    @Test func `an overview has the marks of a difference, their signs, and names that end nothing`() throws {
        let old = (0..<40).map { "E\($0) = a String" }.joined(separator: "\n")
        let new = (1..<41).map { "E\($0) = a String\($0 % 2 == 0 ? ", b Date" : "")" }.joined(separator: "\n")
        let older = ModelVersion(names: ["1"], model: try ManagedObjectModel(old))
        let newer = ModelVersion(names: ["2"], model: try ManagedObjectModel(new))
        let difference = try ModelDiff(from: older, to: newer)
        var diagram = try Diagram(from: older, to: newer, difference, showsUnchanged: true)
        #expect(diagram.boxes.count == 41 && diagram.boxes.filter { $0.mark == .none }.count == 20)
        #expect(diagram.boxes.allSatisfy { !$0.lines.isEmpty })
        #expect(try Diagram(from: older, to: newer, difference).boxes.count == 21)
        diagram.boxes[3].title = SampleStore.hostile
        let overview = diagram.overview
        #expect(overview.boxes.filter { $0.mark == .changed }.count == 19)
        for sign in ["+ added", "− removed", "~ changed"] { #expect(overview.dot.contains(sign)) }
        guard ChildProcess.hasGraphviz else { return }
        let svg = try Graphviz.svg(overview)
        #expect(svg.matches(of: /<g id="e\d+" class="node">/).count == 41)
        #expect(svg.contains("\\N{}&lt;br&gt;"), "the name is shown, and not that of Graphviz")
    }

    @Test(.enabled(if: ChildProcess.hasGraphviz))
    func `a file for a browser has a picture of each entity, and opens nothing else`() throws {
        var diagram = diagram(35, (1..<33).map { ($0 / 2, $0) })
        diagram.boxes[7].title = SampleStore.hostile
        let page = try diagram.html()
        let parts = page.components(separatedBy: "<template data-name=\"").dropFirst()
        #expect(parts.count == 35 && parts.allSatisfy { $0.contains("<svg") })
        // An entity is in its own picture with its attributes, and with those that it is linked to.
        let part = try #require(parts.first { $0.hasPrefix("Entity3\"") })
        for name in ["Entity1", "Entity3", "Entity6"] { #expect(part.contains(">\(name)</text>")) }
        #expect(part.matches(of: /<g id="e\d+" class="node">/).count == 4 && part.contains(">x</text>"))
        #expect(part.contains("xlink:href=\"#Entity6\""))
        let overview = try #require(page.components(separatedBy: "<template").first)
        #expect(overview.matches(of: /xlink:href="#[A-Za-z0-9._%-]+"/).count == 35 && !overview.contains(">x</text>"))
        #expect(try diagram.html(isWhole: true).components(separatedBy: "<template")[0].contains(">x</text>"))
        // An entity keeps its address when another comes before it.
        #expect(page.contains("<template data-name=\"Entity30\"") && page.contains("href=\"#Entity30\""))
        #expect(!page.contains("<br>&#;"), "a name is text everywhere")
        #expect(page.matches(of: /(?:src|href)="(?!#|data:)[^"]*"/).isEmpty && page.contains("default-src 'none'"))
        #expect(throws: MigrationError.self) { try diagram.html(program: "no-such-dot") }
    }
}
