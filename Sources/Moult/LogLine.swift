/// One line of the log of a call.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, such as `migrate`.
    public let call: String
    /// The store's path.
    public let store: String
    /// A sentence that says what has happened.
    public let message: String

    /// `migrate app.sqlite: The new store is verified`
    public var description: String { "\(call) \(store): \(message)" }
}
