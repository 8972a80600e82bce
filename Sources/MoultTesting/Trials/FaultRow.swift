/// The results of the trials of one kind of fault on one kind of migration.
package struct FaultRow: Sendable, Hashable, Codable {
    package let faultCase: String
    /// The kind of fault, as a table's column is called.
    package let fault: String
    /// Faults there are to try.
    package var moments = 0
    /// Faults that were tried and met the run.
    package var tried = 0
    /// Faults that lay behind the end of the run, because it made other calls than the undisturbed one.
    package var untouched = 0
    /// After the fault the store was the old one, or one on the way; the others left the new one.
    package var old = 0
    /// The promises that were not kept, each with its fault.
    package var broken: [String] = []
    package var seconds = 0.0

    package init(faultCase: String, fault: String) { (self.faultCase, self.fault) = (faultCase, fault) }

    package var new: Int { tried - old - broken.count }
    /// Faults of which it is known what becomes of them.
    package var taken: Int { tried + untouched }
    /// Whether these are all that there are.
    package var isWhole: Bool { taken >= moments }

    /// - Parameter last: the position of the new store among the states that a store may be in.
    package mutating func add(_ outcome: Aftermath.Outcome, at number: Int, seed: UInt64, last: Int) {
        switch outcome {
        case .untouched: untouched += 1
        case .kept(let state):
            tried += 1
            if state < last { old += 1 }
        case .broken(let words):
            tried += 1
            broken.append("\(faultCase), \(fault) at \(number), seed \(seed): \(words)")
        }
    }
}
