import MoultModel

extension [Finding] {
    /// The findings of several versions, each cause once: at its place in the newest version that has it, with the
    /// other versions named.
    init(ofVersions versions: [(name: String, findings: [Finding])]) {
        var causes: [Cause: (position: Int, versions: [String])] = [:]
        self = []
        for (name, findings) in versions.reversed() {
            for finding in findings {
                let cause = Cause(finding)
                if causes[cause] == nil {
                    causes[cause] = (count, [name])
                    append(finding)
                } else if causes[cause]?.versions.last != name {
                    causes[cause]?.versions.append(name)
                }
            }
        }
        for found in causes.values where found.versions.count > 1 {
            self[found.position].message += Self.alsoIn(found.versions.dropFirst().reversed())
        }
    }

    private static func alsoIn(_ names: [String]) -> String {
        let shown = names.prefix(3).joined(separator: ", ")
        return " The same in: \(shown)\(names.count > 3 ? " and \(names.count - 3) more" : "")."
    }
}

/// The identity of a finding among several versions: findings with the same sentence about the same part of the model
/// are one.
private struct Cause: Hashable {
    let code: String
    /// `Entity.property`, without the file and line.
    let part: String
    /// Without the count of occurrences in one file.
    let sentence: String

    init(_ finding: Finding) {
        code = finding.code
        let pieces = finding.place.split(separator: ":", omittingEmptySubsequences: false)
        part = pieces.count > 1 && pieces.last?.hasPrefix(" ") == true ? pieces.last.map(String.init) ?? "" : ""
        sentence = finding.message.split(separator: " (", maxSplits: 1).first.map(String.init) ?? finding.message
    }
}
