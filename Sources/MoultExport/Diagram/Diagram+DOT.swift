import MoultReport

extension Diagram {
    /// The picture in the language of Graphviz (https://graphviz.org/doc/info/lang.html).
    package var dot: String {
        var lines = [
            "digraph moult {",
            // Groups that lead to each other in circles have to be ranked as one, or Graphviz 2.42 gives up on a large model.
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
    /// The foot of a crow for many, with a ring where there may be none.
    fileprivate var arrow: String { (most == 1 ? "tee" : "crow") + (least == 0 ? "odot" : "tee") }
}

extension String {
    /// A string of the language; what Graphviz would take for an escape or an entity in it is text.
    fileprivate var dotString: String {
        "\"" + dotShown.replacing("&", with: "&amp;").replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The text of an HTML-like label.
    fileprivate var dotHTML: String {
        guard !isEmpty else { return " " }
        return dotShown.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    /// Without scalars that XML does not know.
    private var dotShown: String {
        printable.replacing("\u{FFFE}", with: "\u{FFFD}").replacing("\u{FFFF}", with: "\u{FFFD}")
    }
}
