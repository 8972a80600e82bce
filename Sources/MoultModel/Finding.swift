/// A risk or fact worth attention, which is not an error: a stable code, a place, a sentence, a remedy.
package struct Finding: Sendable, Hashable {
    package enum Severity: String, Sendable, Hashable, Comparable {
        case note, warning, error

        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// Stable, in kebab case, such as `unknown-element`.
    package var code: String
    package var severity: Severity
    /// Where: a file, `Entity.property`, a table.
    package var place: String
    package var message: String
    /// What to do next; empty where nothing needs doing.
    package var remedy: String
    /// The first keys of the rows that it is about; empty where it is about no rows.
    package var keys: [Int64] = []
    /// What these rows hold, as literals of SQL; empty unless values were asked for.
    package var values: [String] = []

    /// How many rows a finding names.
    package static let keyLimit = 10

    package init(code: String, severity: Severity, place: String, message: String, remedy: String = "") {
        self.code = code
        self.severity = severity
        self.place = place
        self.message = message
        self.remedy = remedy
    }
}
