/// A small model for the page of a rule: versions as XML, and what was released before.
package struct LintExample: Sendable {
    package struct Version: Sendable {
        package let name: String
        /// The XML between `<model>` and `</model>`.
        package let xml: String

        package init(_ name: String, _ xml: String) {
            self.name = name
            self.xml = xml
        }

        /// The whole file.
        package var contents: String { "<model>\n\(xml)\n</model>\n" }
    }

    package let versions: [Version]
    /// The name of the current version; nil for the last.
    package let current: String?
    /// The versions as they were when they were released; empty if the rule does not compare.
    package let released: [Version]
    /// The name of the version that was current then; nil for the last.
    package let releasedCurrent: String?
    /// Source of a SwiftData plan, for a rule about plans; nil for a rule about models.
    package let swift: String?

    package init(
        _ versions: [Version], current: String? = nil, released: [Version] = [], releasedCurrent: String? = nil
    ) {
        self.versions = versions
        self.current = current
        self.released = released
        self.releasedCurrent = releasedCurrent
        swift = nil
    }

    /// The part of a SwiftData plan that a rule is about.
    package init(swift: String) {
        (versions, released) = ([], [])
        (current, releasedCurrent) = (nil, nil)
        self.swift = swift
    }

    /// One version.
    package init(_ xml: String) { self.init([Version("App", xml)]) }

    /// A version and the next one.
    package init(from older: String, to newer: String) {
        self.init([Version("App", older), Version("App 2", newer)])
    }
}
