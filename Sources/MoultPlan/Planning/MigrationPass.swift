import MoultModel

/// One pass over a store: a mapping composed of one or more edges, the code of a stage, or both.
package struct MigrationPass: Sendable, Equatable {
    package var older: ModelVersion
    package var newer: ModelVersion
    /// The positions of the two versions in their order.
    package var olderPosition: Int
    package var newerPosition: Int
    package var work: Work
    /// The code steps that run on the objects when the work is done, in order.
    package var steps: [CodeStep] = []
    /// The stage that the pass belongs to, by name; nil for inferred mappings.
    package var stage: String?
    /// The data that the stage may lose although both versions have it and no code reads it.
    package var acceptedLosses = AcceptedLosses.none
    /// The earlier names of the entities and properties of the older version.
    package var formerNames = RenamingHistory()
    package var style = RegisteredStage.Style.mapping
    /// The reason why this pass could not be joined to the one before; nil for the first one and next to a registered
    /// stage.
    package var apart: String?

    package enum Work: Sendable, Equatable {
        case mapping(ResolvedMapping)
        /// The schema stays: there are only steps, at the version that the store has.
        case none
    }
}
