/// A risk or fact worth attention that is not an error: a stable code, a place, a sentence and a remedy.
public struct Finding: Sendable, Hashable {
    /// The severity of a finding, from a note to an error.
    public enum Severity: String, Sendable, Hashable, Comparable, CaseIterable {
        /// Something to know.
        case note
        /// A risk.
        case warning
        /// A fault, or a condition that prevents the work.
        case error

        /// Whether `left` is less severe than `right`.
        public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// A stable code in kebab case, such as `unknown-element`.
    public var code: String
    /// The severity of the finding: a note, a warning or an error.
    public var severity: Severity
    /// The place: a file, `Entity.property`, a table.
    public var place: String
    /// One sentence that says what was found.
    public var message: String
    /// The action to take next, in the words of the library or of the command line; empty if there is nothing to do.
    public var remedy: String {
        get { advice.text() }
        set { advice = Remedy(newValue) }
    }
    /// The remedy as a value, which each interface renders in its own words.
    package var advice: Remedy
    /// The primary keys of the first rows that the finding is about; empty if it is not about rows.
    public var keys: [Int64] = []
    /// The values of these rows, as SQL literals; empty unless values were requested.
    public var values: [String] = []

    /// The greatest number of rows that a finding names.
    package static let keyLimit = 10

    package init(code: String, severity: Severity, place: String, message: String, remedy: String = "") {
        self.init(code: code, severity: severity, place: place, message: message, remedy: Remedy(remedy))
    }

    package init(code: String, severity: Severity, place: String, message: String, remedy: Remedy) {
        (self.code, self.severity, self.place, self.message) = (code, severity, place, message)
        advice = remedy
    }
}
