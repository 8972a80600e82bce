import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's environment. Foundation's own would cost several milliseconds at the start.
enum Environment {
    /// The variable's value, or nil if it is not set or empty.
    static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let wasDebuggingAsked = Atomic(false)

    /// Whether to say what Core Data says of a migration: `MOULT_MIGRATION_DEBUG=1`, or Core Data's own argument.
    static var isDebuggingMigration: Bool {
        wasDebuggingAsked.load(ordering: .relaxed) || (value("MOULT_MIGRATION_DEBUG") ?? "0") != "0"
    }

    /// Takes `-com.apple.CoreData.MigrationDebug 1` out of the arguments, wherever it stands, as Core Data does.
    static func withoutCoreDataArguments(_ arguments: [String]) -> [String] {
        guard let place = arguments.firstIndex(of: "-com.apple.CoreData.MigrationDebug") else { return arguments }
        let level = arguments.dropFirst(place + 1).first
        if let level, level != "0" { wasDebuggingAsked.store(true, ordering: .relaxed) }
        return Array(arguments[..<place] + arguments[place...].dropFirst(level == nil ? 1 : 2))
    }
}
