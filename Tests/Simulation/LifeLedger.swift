import Foundation
import MoultBasics

/// A text file with a line for each life from a seed that has ended: commit, profile, seed, steps, `holds` or `fails`.
/// Several processes may append to one file.
struct LifeLedger {
    private let path: String
    /// The beginning of each line of this commit and profile.
    private let start: String
    /// The seeds that the file has with as many steps, or with a failure.
    private let done: Set<UInt64>

    init(_ path: String, commit: String, _ profile: Life.Profile, steps: Int) throws {
        let start = "\(commit) \(profile.rawValue) "
        let text = try POSIXSystem().exists(path) ? String(contentsOfFile: path, encoding: .utf8) : ""
        let seeds = text.split(separator: "\n").compactMap { line -> UInt64? in
            // A line that a full disk has cut has fewer fields, or more with the line that was appended to it.
            let fields = line.split(separator: " ")
            guard line.hasPrefix(start), fields.count == 5, let lived = Int(fields[3]) else { return nil }
            return lived >= steps || fields[4] == "fails" ? UInt64(fields[2]) : nil
        }
        self.path = path
        self.start = start
        done = Set(seeds)
    }

    func has(_ seed: UInt64) -> Bool { done.contains(seed) }

    /// Appends a line in one write.
    func add(_ seed: UInt64, steps: Int, holds: Bool) throws {
        try POSIXSystem().append(Array("\(start)\(seed) \(steps) \(holds ? "holds" : "fails")\n".utf8), to: path)
    }
}
