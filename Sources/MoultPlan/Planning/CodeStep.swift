import MoultModel

/// One step of a stage that only an app's own code can do, as a plan names it; the code is found by name when it runs.
package struct CodeStep: Sendable, Hashable {
    /// What the engine finds the code by.
    package var name: String
    /// What it does, in one sentence.
    package var sentence: String
    /// What is done to take it back when a later step fails, in one sentence; nil if nothing is: the store itself is as
    /// it was in any case.
    package var undo: String?

    package init(name: String, sentence: String, undo: String? = nil) {
        self.name = name
        self.sentence = sentence
        self.undo = undo
    }
}
