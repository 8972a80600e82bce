/// What the trials of one kind of fault on one kind of migration have shown.
package struct FaultRow: Sendable, Hashable {
    package let faultCase: String
    package let kind: Fault.Kind
    /// Faults there are to try.
    package var moments = 0
    /// Those that were tried and met the run.
    package var tried = 0
    /// Those that lay behind the end of the run, because it made other calls than the undisturbed one.
    package var untouched = 0
    /// After the fault the store was the old one, or one on the way; the others left the new one.
    package var old = 0
    /// What was promised and not true, with the fault.
    package var broken: [String] = []
    package var seconds = 0.0

    init(faultCase: String, kind: Fault.Kind) { (self.faultCase, self.kind) = (faultCase, kind) }

    package var new: Int { tried - old - broken.count }

    mutating func add(_ outcome: FaultTrial.Outcome, _ fault: Fault, last: Int = 1) {
        switch outcome {
        case .untouched: untouched += 1
        case .kept(let state):
            tried += 1
            if state < last { old += 1 }
        case .broken(let words):
            tried += 1
            broken.append("\(faultCase), \(fault.kind.rawValue) at \(fault.number), seed \(fault.seed): \(words)")
        }
    }
}
