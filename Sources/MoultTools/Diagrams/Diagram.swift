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
        /// The name of a property, or a sentence.
        package var name: String
        /// The type of the property and its settings, which have a column of their own; empty for a sentence.
        package var detail: String
        package var mark: Mark

        package init(_ name: String, detail: String = "", _ mark: Mark = .none) {
            (self.name, self.detail, self.mark) = (name, detail, mark)
        }

        package var text: String { detail.isEmpty ? name : "\(name) \(detail)" }
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
        /// The address that a click on the box opens.
        package var address: String?

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

        package init(least: Int, most: Int? = nil) { (self.least, self.most) = (least, most) }

        /// The count as text, such as `0..1`, `1` or `2..*`.
        package var text: String {
            guard let most else { return "\(least)..*" }
            return least == most ? "\(least)" : "\(least)..\(most)"
        }
    }

    package var title: String
    package var boxes: [Box]
    package var links: [Link]
    /// Whether the marks say what has changed. In a history they say how a run ended.
    package var marksChanges = false
    /// Whether the picture shows names alone, by clusters.
    package internal(set) var isOverview = false

    package init(title: String, boxes: [Box] = [], links: [Link] = []) {
        (self.title, self.boxes, self.links) = (title, boxes, links)
    }

    /// Whether the picture shows a sequence rather than a structure.
    var isFlow: Bool {
        !isOverview && (links.contains { $0.kind == .flow } || boxes.contains { $0.group != nil && $0.kind == nil })
    }

    /// The marks that a reader needs explained: those of changes that occur in the picture.
    var legend: [Mark] {
        guard marksChanges else { return [] }
        let used = Set(boxes.flatMap { [$0.mark] + $0.lines.map(\.mark) } + links.map(\.mark))
        return [.added, .removed, .renamed, .changed].filter(used.contains)
    }
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

    /// The meaning of the sign.
    var word: String {
        switch self {
        case .none: ""
        case .added: "added"
        case .removed: "removed"
        case .renamed: "renamed"
        case .changed: "changed"
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
