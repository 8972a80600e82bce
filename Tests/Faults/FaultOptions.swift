import Foundation
import MoultTesting

/// The command line of moult-faults.
struct FaultOptions {
    private(set) var seconds = Double.infinity
    private(set) var seeds: UInt64 = 4
    private(set) var caseWords = ""
    private(set) var faultWords = ""
    private(set) var file: String?
    private(set) var single: (at: Int, seed: UInt64)?
    let arguments: [String]

    init(_ arguments: [String]) {
        self.arguments = Array(arguments.dropFirst())
        var words = self.arguments[...]
        func wrong(_ word: String) -> Never {
            FileHandle.standardError.write(Data("moult-faults does not know \(word)\n".utf8))
            exit(2)
        }
        while let option = words.popFirst() {
            guard let value = words.popFirst() else { wrong(option) }
            switch option {
            case "--seconds": seconds = Double(value) ?? .infinity
            case "--seeds": seeds = UInt64(value) ?? 4
            case "--case": caseWords = value
            case "--fault": faultWords = value
            case "--at": single = (Int(value) ?? 1, single?.seed ?? 0)
            case "--seed": single = (single?.at ?? 1, UInt64(value) ?? 0)
            case "--write": file = value
            default: wrong(option)
            }
        }
    }

    func takes(_ faultCase: FaultCase) -> Bool { caseWords.isEmpty || faultCase.name.contains(caseWords) }
    func takes(_ kind: Fault.Kind) -> Bool { faultWords.isEmpty || kind.rawValue.contains(faultWords) }
}
