/// A piece of a migration that is done whole or not at all, and about how long it takes.
package struct MigrationUnit: Sendable, Hashable {
    package var sentence: String
    /// By ``WorkCost``.
    package var seconds: Double
}
