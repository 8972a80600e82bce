import MoultModel

/// One step of a stage that only an app's own code can do, as a plan names it; the code is found by name when it runs.
package struct CodeStep: Sendable, Hashable {
    /// The key by which the engine finds the code.
    package var name: String
    /// The effect of the step, in one sentence.
    package var sentence: String
    /// The way in which the step is undone if a later one fails, in one sentence; nil if it is not. The store itself is
    /// unchanged in any case.
    package var undo: String?

    package init(name: String, sentence: String, undo: String? = nil) {
        self.name = name
        self.sentence = sentence
        self.undo = undo
    }
}
