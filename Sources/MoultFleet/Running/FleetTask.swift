import MoultModel

/// A store that a run has to work on, and what is known of it from earlier runs.
package struct FleetTask: Sendable {
    package var entry: FleetEntry
    package var earlier: FleetResult?
    package var attempts = 0
    package var deaths = 0
    /// Whether the run before died while it worked on it.
    package var isSuspect = false
    package var isCanary = false
    /// The differences between the store and the plan.
    package var differences: [String] = []

    package init(_ entry: FleetEntry, earlier: FleetResult? = nil) { (self.entry, self.earlier) = (entry, earlier) }
}

/// The work that a run does on each of its stores.
package struct FleetWork: Sendable {
    /// The verb as it is typed.
    package var verb: String
    package var isWriting: Bool
    /// The state of a store on which it was not done, whatever the reason; nil for the one that the reason has.
    package var stateOfFailure: FleetResult.State?
    /// Does it in the store's own process: prints a verb's document, and returns its exit code. A store that is not the
    /// one that was planned ends with the error `planStale`.
    package var perform: @Sendable (FleetTask) async -> Int32
    /// The state of a store whose process has ended with this exit code, and whatever else its document says.
    package var conclude: @Sendable (FleetTask, inout FleetResult, JSONValue?) -> Void

    package init(
        verb: String, isWriting: Bool, stateOfFailure: FleetResult.State? = nil,
        perform: @escaping @Sendable (FleetTask) async -> Int32,
        conclude: @escaping @Sendable (FleetTask, inout FleetResult, JSONValue?) -> Void
    ) {
        (self.verb, self.isWriting, self.perform, self.conclude) = (verb, isWriting, perform, conclude)
        self.stateOfFailure = stateOfFailure
    }
}
