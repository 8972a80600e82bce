/// A picture of boxes and links, before it is written in the language of a tool.
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
        /// Boxes of one group stand together.
        package var group: String?

        package init(
            _ title: String, kind: String? = nil, lines: [Line] = [], mark: Mark = .none, group: String? = nil
        ) {
            self.title = title
            self.kind = kind
            self.lines = lines
            self.mark = mark
            self.group = group
        }
    }

    /// A line between two boxes, by their positions.
    package struct Link: Sendable, Equatable {
        package enum Kind: Sendable, Hashable {
            /// From the sub-entity to its parent.
            case inheritance
            /// A relationship, with the number of objects at either end.
            case relationship(near: Count, far: Count)
            /// From a box to the one that it becomes, or that follows it.
            case flow
        }

        package var from: Int
        package var to: Int
        package var kind: Kind
        package var label: String
        package var mark: Mark

        package init(from: Int, to: Int, kind: Kind, label: String = "", mark: Mark = .none) {
            self.from = from
            self.to = to
            self.kind = kind
            self.label = label
            self.mark = mark
        }
    }

    /// The number of objects that may be at the end of a relationship.
    package struct Count: Sendable, Hashable {
        package var least: Int
        /// Nil for no limit.
        package var most: Int?

        /// `0..1`, `1`, `2..*`
        package var text: String {
            guard let most else { return "\(least)..*" }
            return least == most ? "\(least)" : "\(least)..\(most)"
        }
    }

    package var title: String
    package var boxes: [Box]
    package var links: [Link]

    package init(title: String, boxes: [Box] = [], links: [Link] = []) {
        self.title = title
        self.boxes = boxes
        self.links = links
    }

    /// Whether it shows how things follow one another, and not how they belong together.
    var isFlow: Bool { links.contains { $0.kind == .flow } || boxes.contains { $0.group != nil && $0.kind == nil } }
}

extension Diagram.Mark {
    /// The sign before a marked line, for readers who see no colours.
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
