import Moult
import MoultBasics

/// The answer of a tool, available as JSON and as text.
package protocol ToolAnswer: Sendable {
    var document: JSONValue { get }
    func lines(style: TextStyle) -> [String]
}

extension MigrationError {
    /// The remedy for an invalid request. A front end that has its own help names the help instead.
    package static let wrongRequestRemedy = "Correct the arguments of the call."

    package static func wrongRequest(_ message: String) -> MigrationError {
        MigrationError(.usage, message, remedy: wrongRequestRemedy)
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    package var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
