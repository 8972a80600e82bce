import Moult
import MoultBasics

extension Diagram {
    /// The maximum length in characters of a diagram that Mermaid, and so GitHub, draws.
    package static let mermaidLimit = 50_000

    /// The picture in Mermaid: a class diagram, or a flowchart for a sequence.
    ///
    /// Every character other than a letter, a digit, a space or an underscore is written as its code, so that no text
    /// can end a string or start a statement
    /// (https://mermaid.js.org/syntax/flowchart.html#special-characters-that-break-syntax).
    package var mermaid: String { isFlow || isOverview ? flowchart : classDiagram }

    /// The title as a comment. Mermaid reads no codes there, and obeys a directive (`%%{`) anywhere in a line.
    private var comment: String {
        let text = title.printable.replacing("%{", with: "% {")
        return "%% \(text.isEmpty ? " " : text)"
    }

    private var classDiagram: String {
        var lines = [comment, "classDiagram"]
        // Mermaid rejects an empty diagram.
        if boxes.isEmpty { lines.append("  note \"There is nothing to draw\"") }
        for (place, box) in boxes.enumerated() {
            lines.append("  class e\(place)[\"\(box.title.mermaid)\"]")
            if let kind = box.kind, kind != "entity" { lines.append("  <<\(kind)>> e\(place)") }
            lines += box.lines.map { "  e\(place) : \(($0.mark.sign + $0.text).mermaid)" }
            if box.mark != .none { lines.append("  \(style("e\(place)", box.mark))") }
        }
        if !legend.isEmpty {
            lines.append("  note \"\(legend.map { ($0.sign + $0.word).mermaid }.joined(separator: " "))\"")
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
        var lines = [comment, "flowchart LR"]
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
        if !legend.isEmpty {
            lines.append("    legend[\"\(legend.map { ($0.sign + $0.word).mermaid }.joined(separator: "<br>"))\"]")
        }
        for link in links {
            if case .relationship = link.kind {
                lines.append("  e\(link.from) --- e\(link.to)")
                continue
            }
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
