extension Migration {
    /// One step of a stage, with the code that does it.
    package struct Step: Sendable {
        package var name: String
        /// The stage or version that it belongs to; empty where it stands alone.
        package var stage: String
        /// A description of the step, in one sentence.
        package var sentence: String
        package var execute: @Sendable (MigrationSite) throws -> Void
        /// Called on the copy that the step has changed, when it or anything after it fails; nil if nothing outside the
        /// store is to be undone.
        package var undo: (@Sendable (MigrationSite) throws -> Void)?

        package init(
            name: String, stage: String = "", sentence: String,
            execute: @escaping @Sendable (MigrationSite) throws -> Void,
            undo: (@Sendable (MigrationSite) throws -> Void)? = nil
        ) {
            self.name = name
            self.stage = stage
            self.sentence = sentence
            self.execute = execute
            self.undo = undo
        }

        var title: String { stage.isEmpty ? "step \(name)" : "step \(name) of \(stage)" }
    }
}
