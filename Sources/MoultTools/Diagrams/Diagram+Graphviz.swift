import Moult
import MoultBasics

extension Diagram {
    /// The picture in the language of Graphviz (https://graphviz.org/doc/info/lang.html).
    package var dot: String {
        guard !isOverview else { return dotOverview }
        var lines = [
            "digraph moult {",
            // Graphviz 2.42 fails on a large model with links between groups in a cycle, unless all nodes are ranked
            // together.
            isFlow ? nil : "  graph [newrank=true];",
            "  graph [label=\(dotTitle), labelloc=t, rankdir=LR, fontname=\"Helvetica\", nodesep=0.4, ranksep=0.8];",
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
            lines.append("    e\(place) [label=<\(box.dotTable)>, id=\"e\(place)\"\(box.dotAddress)];")
        }
        if group != nil { lines.append("  }") }
        lines += links.enumerated().map { number, link in
            "  e\(link.from) -> e\(link.to) [\(link.dotAttributes), id=\"l\(number)-\(link.from)-\(link.to)\"];"
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    /// The names by clusters, at the places that ``OverviewLayout`` gives them, so that Graphviz only draws.
    private var dotOverview: String {
        let layout = OverviewLayout(self)
        func size(_ width: Int, _ height: Int) -> String { "width=\(width.inches), height=\(height.inches)" }
        var lines = [
            "digraph moult {",
            "  graph [layout=nop2, outputorder=edgesfirst, label=\(dotTitle), labelloc=t, fontname=\"Helvetica\"];",
            "  node [shape=box, style=\"rounded,filled\", fixedsize=shape, margin=0, fontname=\"Helvetica\", fontsize=10];",
            "  edge [color=\"#8c959f\", dir=none, arrowsize=0.7];",
        ]
        for (number, frame) in layout.frames.enumerated() {
            lines.append(
                "  g\(number) [id=\"g\(number)\", label=\"\", style=rounded, color=\"#d0d7de\", "
                    + "\(size(frame.width, frame.height)), pos=\"\(frame.middle)\"];")
            guard !frame.title.isEmpty else { continue }
            lines.append(
                "  t\(number) [id=\"t\(number)\", label=\(frame.title.dotString), shape=plaintext, style=\"\", fontsize=11, "
                    + "fontcolor=\"#57606a\", width=0, height=0, pos=\"\(frame.titleMiddle)\"];")
        }
        for (place, box) in boxes.enumerated() {
            let (spot, colours) = (layout.spots[place], box.mark.colours)
            let name = (box.mark.sign + box.title).dotHTML
            lines.append(
                "  e\(place) [id=\"e\(place)\", label=<\(box.kind == "abstract" ? "<I>\(name)</I>" : name)>, "
                    + "fillcolor=\"\(box.mark == .none ? "#f6f8fa" : colours.fill)\", color=\"\(colours.line)\", "
                    + "\(size(spot.width, spot.height)), pos=\"\(spot.middle)\"\(box.dotAddress)];")
        }
        for (number, link) in links.enumerated() {
            var words = link.mark == .none ? "" : ", color=\"\(link.mark.colours.line)\""
            if boxes[link.from].group != boxes[link.to].group { words += ", style=dashed" }
            if link.kind == .inheritance { words += ", dir=forward, arrowhead=empty" }
            let curve = layout.curve(from: link.from, to: link.to, hasHead: link.kind == .inheritance)
            lines.append(
                "  e\(link.from) -> e\(link.to) [id=\"l\(number)-\(link.from)-\(link.to)\", pos=\"\(curve)\"\(words)];")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    /// The title as a label, with the legend below it.
    private var dotTitle: String {
        guard !legend.isEmpty else { return title.dotString }
        let cells = legend.map { mark in
            "<TD BGCOLOR=\"\(mark.colours.fill)\"><FONT POINT-SIZE=\"10\">\((mark.sign + mark.word).dotHTML)</FONT></TD>"
        }
        let head = title.isEmpty ? "" : "<TR><TD COLSPAN=\"\(cells.count)\">\(title.dotHTML)</TD></TR>"
        return "<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"6\">\(head)<TR>\(cells.joined())</TR></TABLE>>"
    }
}

extension Diagram.Box {
    fileprivate var dotAddress: String {
        address.map { ", URL=\($0.dotString), tooltip=\(title.dotString)" } ?? ""
    }

    /// A table with the title, and a row for each line: its name and, in a second column, its type.
    fileprivate var dotTable: String {
        let kind = kind.flatMap { $0 == "entity" ? nil : "<BR/><I>\($0.dotHTML)</I>" } ?? ""
        let hasDetails = lines.contains { !$0.detail.isEmpty }
        let whole = hasDetails ? " COLSPAN=\"2\"" : ""
        let ground = mark == .none ? "#f6f8fa" : mark.colours.fill
        let head = "<TR><TD\(whole) BGCOLOR=\"\(ground)\"><B>\(title.dotHTML)</B>\(kind)</TD></TR>"
        let rows = lines.map { line in
            let colour = line.mark == .none ? "" : " BGCOLOR=\"\(line.mark.colours.fill)\""
            let cell = "<TD ALIGN=\"LEFT\" BORDER=\"0\"\(colour)"
            let name = "\((line.mark.sign + line.name).dotHTML)</TD>"
            guard !line.detail.isEmpty else { return "<TR>\(cell)\(whole)>\(name)</TR>" }
            return "<TR>\(cell)>\(name)\(cell)><FONT COLOR=\"#57606a\">\(line.detail.dotHTML)</FONT></TD></TR>"
        }
        return
            "<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\" BGCOLOR=\"#ffffff\" "
            + "COLOR=\"\(mark.colours.line)\">"
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

    /// The escaped text for an HTML-like label, where Graphviz reads `\N` as the name of the node, too.
    fileprivate var dotHTML: String {
        guard !isEmpty else { return " " }
        return dotShown.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("\\", with: "\\\\")
    }

    /// The text without characters that are invalid in XML.
    private var dotShown: String {
        printable.replacing("\u{FFFE}", with: "\u{FFFD}").replacing("\u{FFFF}", with: "\u{FFFD}")
    }
}

extension Int {
    /// The length in the unit of Graphviz, from points.
    fileprivate var inches: String { "\(Double(self) / 72)" }
}

/// The layout program of Graphviz, `dot`, if it is installed.
package enum Graphviz {
    /// Returns the picture as SVG, in light and dark colours.
    ///
    /// - Parameter program: another name of the program, for tests.
    /// - Throws: `unsupported` if the program is not installed; `inputOutput` if it fails.
    package static func svg(_ diagram: Diagram, program: String = "dot") throws -> String {
        let svg = try svgs([diagram], program: program).joined()
        // The style comes before all that is drawn.
        guard let place = svg.firstRange(of: "<g id=\"graph0\"")?.lowerBound else { return svg }
        return svg[..<place] + "<style>\(PictureViewer.darkStyle(of: ""))</style>\n" + svg[place...]
    }

    /// Returns the pictures as SVG without a style, by one run of the program.
    static func svgs(_ diagrams: [Diagram], program: String = "dot") throws -> [String] {
        let input = diagrams.map(\.dot).joined()
        guard let run = try ProgramRun(program, ["-Tsvg"], input: Array(input.utf8)) else {
            throw MigrationError(
                .unsupported, "Graphviz is not installed, which lays out an SVG.",
                remedy: "Install it (Debian, Ubuntu: `apt-get install graphviz`), or choose "
                    + "\(option: .format("mermaid")).")
        }
        let pictures = String(decoding: run.output, as: UTF8.self).split(separator: "<?xml ").map { "<?xml " + $0 }
        guard run.exit == 0, pictures.count == diagrams.count else {
            let words = run.errorText.split(separator: "\n").first ?? "it ended with \(run.exit)."
            throw MigrationError(
                .inputOutput, "Graphviz could not lay out the picture: \(words)",
                remedy: "Choose \(option: .format("mermaid")), or fewer entities with \(option: .entity(nil)).")
        }
        return pictures
    }
}
