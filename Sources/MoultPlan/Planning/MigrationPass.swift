import MoultModel

/// What a store goes through once: a mapping joined of one or more edges, or a registered stage.
package struct MigrationPass: Sendable, Equatable {
    package var older: ModelVersion
    package var newer: ModelVersion
    /// The positions of the two versions in their order.
    package var olderPosition: Int
    package var newerPosition: Int
    package var work: Work
    /// Why this pass could not be joined to the one before; nil for the first one and beside a registered stage.
    package var apart: String?

    package enum Work: Sendable, Equatable {
        case mapping(ResolvedMapping)
        case registered(RegisteredStage)
    }
}
