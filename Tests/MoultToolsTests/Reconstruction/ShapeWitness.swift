import Foundation
import MoultTools
import TestSupport

/// A shape with its tags, as the program and the witness both describe it.
struct TaggedShape: Hashable, Codable, CustomStringConvertible {
    let tags: [String]
    let releases: [String]

    var description: String { "\(tags.joined(separator: ",")) (\(releases.joined(separator: ",")))" }
}

/// `Tests/Witness/shapes.py`, which reads the tags of a repository without any of Moult's code.
enum ShapeWitness {
    struct Answer: Codable {
        let tags: [String]
        let shapes: [TaggedShape]
    }

    struct Failure: Error { let output: String }

    private static func run(_ arguments: [String]) throws -> String {
        let ended = try ChildProcess.run("python3", [Witness.folder + "/shapes.py"] + arguments)
        guard ended.exit == 0 else { throw Failure(output: ended.output) }
        return ended.output
    }

    /// Makes a repository whose bundle has one version, which is edited in place at each tag.
    static func make(from bundle: String, in repository: String, tags: Int) throws {
        _ = try run(["make", bundle, repository, "\(tags)"])
    }

    /// The shapes of the model that is at the first of the paths that a tag has.
    static func shapes(_ repository: String, tags pattern: String, at paths: [String]) throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(run(["check", repository, pattern] + paths).utf8))
    }
}

extension ReconstructionReport {
    /// Its shapes, with the tags in the order of the witness.
    var taggedShapes: [TaggedShape] {
        shapes.map { TaggedShape(tags: $0.tags.sorted(), releases: $0.releases.sorted()) }
    }
}
