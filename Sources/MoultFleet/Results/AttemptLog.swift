import MoultModel
import MoultSystem

/// A log of the attempts on the stores of a shard, and of how they ended, with a line for each event: where a run dies
/// with all its processes, the next run learns from it what was left behind.
package struct AttemptLog: Sendable {
    package struct Record: Sendable, Equatable {
        /// Attempts that were begun.
        package var attempts = 0
        /// The number of attempts that died.
        package var deaths = 0
        /// Whether one is under way, or died together with the run.
        package var isOpen = false
        fileprivate var isAlone = false

        /// Whether the store was being worked on when the run died. It is tried last, and alone: if the run then dies
        /// again, the store is the reason.
        package var isSuspect = false
    }

    private let path: String
    private let system = POSIXSystem()

    package init(_ shard: ShardFolder) { path = shard.attemptsPath }

    /// - Parameter isAfterwards: whether the run that wrote it has ended, so that what is open has died.
    package func records(isAfterwards: Bool) throws -> [Int: Record] {
        var records: [Int: Record] = [:]
        guard try system.exists(path) else { return records }
        func settle(_ number: Int) {
            guard var record = records[number], record.isOpen else { return }
            if record.isAlone { record.deaths += 1 }
            (record.isSuspect, record.isOpen) = (true, false)
            records[number] = record
        }
        try FleetManifest.forEachLine(of: path) { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            if words.first == "run" { return records.keys.forEach(settle) }
            // A line that a power cut has torn is passed over.
            guard words.count >= 2, let number = Int(words[1]) else { return }
            switch words[0] {
            case "begin":
                records[number, default: Record()].attempts += 1
                records[number]?.isOpen = true
                records[number]?.isAlone = words.count > 2
            case "death":
                records[number]?.deaths += 1
                records[number]?.isOpen = false
            case "end": records[number]?.isOpen = false
            case "forget": records[number] = nil
            default: break
            }
        }
        if isAfterwards { records.keys.forEach(settle) }
        return records
    }

    package enum Line: Sendable {
        /// A run begins: what was open has died with the one before.
        case run
        case begin(Int, isAlone: Bool)
        case death(Int)
        case end(Int)
        /// A fresh start for the store: what happened to it before does not count any more.
        case forget(Int)

        var text: String {
            switch self {
            case .run: "\nrun"
            case .begin(let number, let isAlone): "begin \(number)\(isAlone ? " alone" : "")"
            case .death(let number): "death \(number)"
            case .end(let number): "end \(number)"
            case .forget(let number): "forget \(number)"
            }
        }
    }

    package func add(_ line: Line) throws { try system.append(Array((line.text + "\n").utf8), to: path) }
}
