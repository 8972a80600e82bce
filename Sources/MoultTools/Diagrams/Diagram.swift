import Moult
import MoultBasics

/// A picture of boxes and links, independent of the output format.
package struct Diagram: Sendable, Equatable {
    /// The change of a part between two versions, or the result of a run.
    package enum Mark: Sendable, Hashable {
        case none, added, removed, renamed, changed
    }

    /// One line of a box.
    package struct Line: Sendable, Equatable {
        package var text: String
        package var mark: Mark

        package init(_ text: String, _ mark: Mark = .none) {
            self.text = text
            self.mark = mark
        }
    }

    /// An entity, a version or a run.
    package struct Box: Sendable, Equatable {
        package var title: String
        /// A word under the title, such as `abstract`.
        package var kind: String?
        package var lines: [Line]
        package var mark: Mark
        /// The group of the box. Boxes of a group are drawn together.
        package var group: String?

        package init(
            _ title: String, kind: String? = nil, lines: [Line] = [], mark: Mark = .none, group: String? = nil
        ) {
            (self.title, self.kind, self.lines, self.mark, self.group) = (title, kind, lines, mark, group)
        }
    }

    /// A line between two boxes, by their positions.
    package struct Link: Sendable, Equatable {
        package enum Kind: Sendable, Hashable {
            /// From the sub-entity to its parent.
            case inheritance
            /// A relationship, with the number of objects at either end.
            case relationship(near: Count, far: Count)
            /// From a box to the next one in time.
            case flow
        }

        package var from: Int
        package var to: Int
        package var kind: Kind
        package var label: String
        package var mark: Mark

        package init(from: Int, to: Int, kind: Kind, label: String = "", mark: Mark = .none) {
            (self.from, self.to, self.kind, self.label, self.mark) = (from, to, kind, label, mark)
        }
    }

    /// The number of objects that the end of a relationship allows.
    package struct Count: Sendable, Hashable {
        package var least: Int
        /// The maximum number; nil for no limit.
        package var most: Int?

        /// The count as text, such as `0..1`, `1` or `2..*`.
        package var text: String {
            guard let most else { return "\(least)..*" }
            return least == most ? "\(least)" : "\(least)..\(most)"
        }
    }

    package var title: String
    package var boxes: [Box]
    package var links: [Link]

    package init(title: String, boxes: [Box] = [], links: [Link] = []) {
        (self.title, self.boxes, self.links) = (title, boxes, links)
    }

    /// Whether the picture shows a sequence rather than a structure.
    var isFlow: Bool { links.contains { $0.kind == .flow } || boxes.contains { $0.group != nil && $0.kind == nil } }
}

extension Diagram.Mark {
    /// The sign before a marked line, for readers who cannot see colours.
    var sign: String {
        switch self {
        case .none: ""
        case .added: "+ "
        case .removed: "− "
        case .renamed: "» "
        case .changed: "~ "
        }
    }

    /// The colours of a box, light enough for black text.
    var colours: (fill: String, line: String) {
        switch self {
        case .none: ("#ffffff", "#57606a")
        case .added: ("#dafbe1", "#1a7f37")
        case .removed: ("#ffebe9", "#cf222e")
        case .renamed: ("#ddf4ff", "#0969da")
        case .changed: ("#fff8c5", "#9a6700")
        }
    }
}

extension Diagram {
    /// The maximum length in characters of a diagram that Mermaid, and so GitHub, draws.
    package static let mermaidLimit = 50_000

    /// The picture in Mermaid: a class diagram, or a flowchart for a sequence.
    ///
    /// Every character other than a letter, a digit, a space or an underscore is written as its code, so that no text
    /// can end a string or start a statement
    /// (https://mermaid.js.org/syntax/flowchart.html#special-characters-that-break-syntax).
    package var mermaid: String { isFlow ? flowchart : classDiagram }

    private var classDiagram: String {
        var lines = ["%% \(title.mermaid)", "classDiagram"]
        // Mermaid rejects an empty diagram.
        if boxes.isEmpty { lines.append("  note \"There is nothing to draw\"") }
        for (place, box) in boxes.enumerated() {
            lines.append("  class e\(place)[\"\(box.title.mermaid)\"]")
            if let kind = box.kind, kind != "entity" { lines.append("  <<\(kind)>> e\(place)") }
            lines += box.lines.map { "  e\(place) : \(($0.mark.sign + $0.text).mermaid)" }
            if box.mark != .none { lines.append("  \(style("e\(place)", box.mark))") }
        }
        for link in links {
            switch link.kind {
            case .inheritance: lines.append("  e\(link.to) <|-- e\(link.from)")
            case .relationship(let near, let far):
                let label = (link.mark.sign + link.label).mermaid
                lines.append("  e\(link.from) \"\(near.text)\" -- \"\(far.text)\" e\(link.to) : \(label)")
            case .flow: lines.append("  e\(link.from) --> e\(link.to)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var flowchart: String {
        var lines = ["%% \(title.mermaid)", "flowchart LR"]
        var group: String?
        for (place, box) in boxes.enumerated() {
            if box.group != group {
                if group != nil { lines.append("  end") }
                if let name = box.group { lines.append("  subgraph g\(place)[\"\(name.mermaid)\"]") }
                group = box.group
            }
            let texts = [box.title] + box.lines.map { $0.mark.sign + $0.text }
            lines.append("    e\(place)[\"\(texts.map(\.mermaid).joined(separator: "<br>"))\"]")
        }
        if group != nil { lines.append("  end") }
        for link in links {
            let label = link.label.isEmpty ? "" : "|\"\(link.label.mermaid)\"|"
            lines.append("  e\(link.from) -->\(label) e\(link.to)")
        }
        for (place, box) in boxes.enumerated() where box.mark != .none {
            lines.append("  \(style("e\(place)", box.mark))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func style(_ name: String, _ mark: Mark) -> String {
        "style \(name) fill:\(mark.colours.fill),stroke:\(mark.colours.line),color:#1f2328"
    }
}

extension String {
    /// The text, with every character that Mermaid may interpret written as its code.
    fileprivate var mermaid: String {
        let text = printable
        guard !text.isEmpty else { return " " }
        return text.unicodeScalars.map { scalar in
            let isPlain =
                scalar == " " || scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            return isPlain ? String(scalar) : "#\(scalar.value);"
        }.joined()
    }
}

extension Diagram {
    /// The picture in the language of Graphviz (https://graphviz.org/doc/info/lang.html).
    package var dot: String {
        var lines = [
            "digraph moult {",
            // Graphviz 2.42 fails on a large model with links between groups in a cycle, unless all nodes are ranked
            // together.
            isFlow ? nil : "  graph [newrank=true];",
            "  graph [label=\(title.dotString), labelloc=t, rankdir=LR, fontname=\"Helvetica\", nodesep=0.4, ranksep=0.8];",
            "  node [shape=plain, fontname=\"Helvetica\", fontsize=11];",
            "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#57606a\"];",
        ].compactMap(\.self)
        var group: String?
        for (place, box) in boxes.enumerated() {
            if box.group != group {
                if group != nil { lines.append("  }") }
                if let name = box.group {
                    lines.append("  subgraph cluster_\(place) {")
                    lines.append("    label=\(name.dotString); color=\"#d0d7de\"; style=rounded;")
                }
                group = box.group
            }
            lines.append("    e\(place) [label=<\(box.dotTable)>];")
        }
        if group != nil { lines.append("  }") }
        lines += links.map { "  e\($0.from) -> e\($0.to) [\($0.dotAttributes)];" }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }
}

extension Diagram.Box {
    fileprivate var dotTable: String {
        let kind = kind.flatMap { $0 == "entity" ? nil : "<BR/><I>\($0.dotHTML)</I>" } ?? ""
        let head =
            "<TR><TD BGCOLOR=\"\(mark == .none ? "#f6f8fa" : mark.colours.fill)\"><B>\(title.dotHTML)</B>\(kind)</TD></TR>"
        let rows = lines.map { line in
            let colour = line.mark == .none ? "" : " BGCOLOR=\"\(line.mark.colours.fill)\""
            return "<TR><TD ALIGN=\"LEFT\" BORDER=\"0\"\(colour)>\((line.mark.sign + line.text).dotHTML)</TD></TR>"
        }
        return
            "<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\" COLOR=\"\(mark.colours.line)\">"
            + head + (rows.isEmpty ? "" : "<HR/>") + rows.joined() + "</TABLE>"
    }
}

extension Diagram.Link {
    fileprivate var dotAttributes: String {
        var words: [String] = []
        if !label.isEmpty { words.append("label=\((mark.sign + label).dotString)") }
        if mark != .none { words.append("color=\"\(mark.colours.line)\"") }
        switch kind {
        case .inheritance: words += ["arrowhead=empty"]
        case .relationship(let near, let far):
            words += ["dir=both", "arrowtail=\(near.arrow)", "arrowhead=\(far.arrow)"]
        case .flow: words += ["arrowhead=normal"]
        }
        return words.joined(separator: ", ")
    }
}

extension Diagram.Count {
    /// The arrowhead: a crow's foot for many, and a ring if there may be none.
    fileprivate var arrow: String { (most == 1 ? "tee" : "crow") + (least == 0 ? "odot" : "tee") }
}

extension String {
    /// A quoted string of the language. Escapes and entities in the text have no special meaning.
    fileprivate var dotString: String {
        "\"" + dotShown.replacing("&", with: "&amp;").replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The escaped text for an HTML-like label.
    fileprivate var dotHTML: String {
        guard !isEmpty else { return " " }
        return dotShown.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    /// The text without characters that are invalid in XML.
    private var dotShown: String {
        printable.replacing("\u{FFFE}", with: "\u{FFFD}").replacing("\u{FFFF}", with: "\u{FFFD}")
    }
}

/// The layout program of Graphviz, `dot`, if it is installed.
package enum Graphviz {
    /// Returns the picture as SVG.
    ///
    /// - Parameter program: another name of the program, for tests.
    /// - Throws: `unsupported` if the program is not installed; `inputOutput` if it fails.
    package static func svg(_ diagram: Diagram, program: String = "dot") throws -> String {
        guard let run = try ProgramRun(program, ["-Tsvg"], input: Array(diagram.dot.utf8)) else {
            throw MigrationError(
                .unsupported, "Graphviz is not installed, which lays out an SVG.",
                remedy: "Install it (Debian, Ubuntu: apt-get install graphviz), or choose "
                    + "\(option: .format("mermaid")).")
        }
        guard run.exit == 0 else {
            let words = run.errorText.split(separator: "\n").first ?? "it ended with \(run.exit)."
            throw MigrationError(
                .inputOutput, "Graphviz could not lay out the picture: \(words)",
                remedy: "Choose \(option: .format("mermaid")), or fewer entities with \(option: .entity(nil)).")
        }
        return String(decoding: run.output, as: UTF8.self)
    }
}
