import Glibc

/// The process's environment. Foundation's own would cost several milliseconds at the start.
enum Environment {
    /// The variable's value, or nil where it is not set or empty.
    static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
