/// One line of the log of a call.
public struct LogLine: Sendable, Hashable, CustomStringConvertible {
    /// What was being done, such as `migrate`.
    public let call: String
    /// The store's path.
    public let store: String
    /// What has happened, in one sentence.
    public let message: String

    /// `migrate app.sqlite: The new store is verified`
    public var description: String { "\(call) \(store): \(message)" }
}
