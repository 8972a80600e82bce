/// A piece of a migration that is done completely or not at all, with its estimated time.
package struct MigrationUnit: Sendable, Hashable {
    package var sentence: String
    /// By ``WorkCost``.
    package var seconds: Double

    package init(sentence: String, seconds: Double) { (self.sentence, self.seconds) = (sentence, seconds) }
}
