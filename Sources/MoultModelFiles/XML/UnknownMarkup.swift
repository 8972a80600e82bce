import MoultModel

/// The content of a model file that Moult does not know: counted, so that a new switch of Xcode's on five hundred
/// attributes is one finding.
struct UnknownMarkup {
    private struct Occurrence {
        let line: Int
        var count: Int
    }

    private let file: String
    private var occurrences: [String: Occurrence] = [:]
    private(set) var others: [Finding] = []

    init(file: String) { self.file = file }

    /// Notes every attribute and child element of `element` that is in neither set.
    mutating func inspect(_ element: ModelElement, attributes: ModelKeySet, children: Set<String> = []) {
        for attribute in element.node.attributes where !attributes.contains(attribute.key) {
            note("attribute \(attribute.key) of <\(element.node.name)>", line: element.node.line)
        }
        for attribute in element.node.otherAttributes {
            note("attribute \(attribute.name) of <\(element.node.name)>", line: element.node.line)
        }
        inspect(children: children, of: element)
    }

    /// Notes every child element whose name is not in the set.
    mutating func inspect(children: Set<String>, of element: ModelElement) {
        for child in element.node.children where !children.contains(child.name) {
            note("element <\(child.name)> in <\(element.node.name)>", line: child.line)
        }
    }

    mutating func add(_ code: String, _ element: ModelElement, _ message: String, remedy: String) {
        others.append(
            Finding(code: code, severity: .warning, place: element.place, message: message, remedy: remedy))
    }

    private mutating func note(_ what: String, line: Int) {
        occurrences[what, default: Occurrence(line: line, count: 0)].count += 1
    }

    var findings: [Finding] {
        let unknown = occurrences.sorted { $0.key < $1.key }.map { what, occurrence in
            Finding(
                code: "unknown-markup", severity: .note, place: "\(file):\(occurrence.line)",
                message: "The \(what) is not known and was not read (\(occurrence.count) in the file).")
        }
        return others + unknown
    }
}
