import MoultBasics

/// Core Data's messages about a migration, on standard error, for programs that ask for them: with
/// `MOULT_MIGRATION_DEBUG=1` in the environment, or with Core Data's argument `-com.apple.CoreData.MigrationDebug 1`.
package enum MigrationDebug {
    /// The argument with which Core Data prints its messages about migrations, and whose value follows it.
    package static let argument = "-com.apple.CoreData.MigrationDebug"

    /// Whether this program was asked for the messages.
    package static let isAsked = isAsked(
        environment: getenv("MOULT_MIGRATION_DEBUG").map { String(cString: $0) }, CommandLine.arguments)

    /// - Parameter environment: the value of the variable; nil if it is unset.
    package static func isAsked(environment: String?, _ arguments: [String]) -> Bool {
        if let environment, !environment.isEmpty, environment != "0" { return true }
        guard let place = arguments.firstIndex(of: argument), place + 1 < arguments.count else { return false }
        return arguments[place + 1] != "0"
    }

    /// Returns a message in Core Data's form.
    package static func line(_ message: String) -> String { "[Migration Debug] \(message)" }

    /// Prints a message on standard error.
    package static func say(_ message: String) {
        let line = Array((line(message) + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
