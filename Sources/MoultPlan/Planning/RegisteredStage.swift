/// A mapping or custom stage that somebody registered for an edge: it is used instead of an inferred mapping.
///
/// It may also span several versions; such a shortcut is preferred to walking, because somebody tested it (K-01).
package struct RegisteredStage: Sendable, Hashable {
    /// The version names.
    package var from: String
    package var to: String
    /// What the engine finds it by.
    package var name: String
    /// What it does, in one sentence.
    package var sentence: String
    /// How it is undone, in one sentence; nil where it cannot be.
    package var undo: String?

    package init(from: String, to: String, name: String, sentence: String, undo: String? = nil) {
        self.from = from
        self.to = to
        self.name = name
        self.sentence = sentence
        self.undo = undo
    }
}
