import Foundation
import MoultTesting

/// The command line of moult-faults.
struct FaultOptions {
    private(set) var seconds = Double.infinity
    private(set) var seeds: UInt64 = 4
    private(set) var jobs = ProcessInfo.processInfo.activeProcessorCount
    private(set) var caseWords = ""
    private(set) var faultWords = ""
    private(set) var file: String?
    /// Where the rows are kept.
    private(set) var results: String?
    /// Where the one series that is asked for puts its row.
    private(set) var row: String?
    private(set) var single: (at: Int, seed: UInt64)?
    /// The kind of migration and the store that this process is to work on, as one of several.
    private(set) var work: (faultCase: String, store: String)?
    let arguments: [String]

    init(_ arguments: [String]) {
        self.arguments = Array(arguments.dropFirst())
        var words = self.arguments[...]
        while let option = words.popFirst() {
            guard let value = words.popFirst() else { Self.refuse(option) }
            switch option {
            case "--seconds": seconds = Double(value) ?? .infinity
            case "--seeds": seeds = UInt64(value) ?? 4
            case "--jobs": jobs = Int(value) ?? 1
            case "--case": caseWords = value
            case "--fault": faultWords = value
            case "--at": single = (Int(value) ?? 1, single?.seed ?? 0)
            case "--seed": single = (single?.at ?? 1, UInt64(value) ?? 0)
            case "--write": file = value
            case "--results": results = value
            case "--row": row = value
            case "--work":
                guard let store = words.popFirst() else { Self.refuse(option) }
                work = (value, store)
            default: Self.refuse(option)
            }
        }
    }

    private static func refuse(_ word: String) -> Never {
        FileHandle.standardError.write(Data("moult-faults does not know \(word)\n".utf8))
        exit(2)
    }

    func takes(_ faultCase: FaultCase) -> Bool { Self.isMeant(faultCase.name, by: caseWords) }
    func takes(_ kind: TrialKind) -> Bool { Self.isMeant(kind.name, by: faultWords) }

    private static func isMeant(_ name: String, by words: String) -> Bool {
        words.isEmpty || (words.hasPrefix("=") ? name == words.dropFirst() : name.contains(words))
    }
}
