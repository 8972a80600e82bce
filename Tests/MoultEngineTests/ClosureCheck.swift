import MoultSQLite

@testable import MoultEngine

/// A check that a test gives as a closure.
struct ClosureCheck: StoreCheck {
    let sentence = "Ask what a test asks."
    private let body: @Sendable (Connection) throws -> Void

    init(_ body: @escaping @Sendable (Connection) throws -> Void) { self.body = body }

    func check(_ connection: Connection) throws { try body(connection) }
}

/// The work of a step that a test gives as a closure.
struct ClosureAction: StepAction {
    private let body: @Sendable (CodeContext) throws -> Void

    init(_ body: @escaping @Sendable (CodeContext) throws -> Void) { self.body = body }

    func execute(_ site: CodeContext) throws { try body(site) }
}
