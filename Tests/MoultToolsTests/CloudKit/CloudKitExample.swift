import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// A model and a schema of CloudKit, from `Tests/CloudKit` or from the pairs of real apps next to the corpus.
struct CloudKitExample: Sendable, CustomTestStringConvertible {
    let name: String
    /// The path of the model's XML.
    let contents: String
    /// The path of the schema; nil for a model that no schema can hold.
    let production: String?
    /// The configuration that is mirrored, if the model does not mark it.
    let configuration: String?

    var testDescription: String { name }

    private init(_ folder: String, _ production: String? = "schema.ckdb") {
        name = (folder as NSString).lastPathComponent
        contents = folder + "/contents"
        self.production = production.map { "\(folder)/\($0)" }
        configuration = try? String(contentsOfFile: folder + "/configuration", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let own = packageRoot.appendingPathComponent("Tests/CloudKit").path

    static let whole = CloudKitExample(own + "/whole")
    static let behind = CloudKitExample(own + "/behind", "production.ckdb")
    static let conflict = CloudKitExample(own + "/conflict", nil)

    /// The pairs of real apps; their repositories do not allow to copy them.
    static let pairs: [CloudKitExample] = {
        let folder = Corpus.isWhole ? Corpus.root.map { "\($0.path)/../cloudkit/pairs" } : nil
        let names = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        if names.isEmpty {
            print("SKIPPED: the tests of CloudKit's schema that need cloudkit/pairs next to MOULT_CORPUS")
        }
        return names.sorted().map { CloudKitExample("\(folder ?? "")/\($0)") }
    }()

    /// The pairs whose schema is as the server wrote it.
    static var genuine: [CloudKitExample] { pairs.filter { $0.name != "bottlekeep-handmade" } }

    // MARK: - What Moult says

    func model() throws -> ManagedObjectModel {
        var findings: [Finding] = []
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: contents)))
        return try ManagedObjectModel(xmlContents: bytes, file: contents, findings: &findings)
    }

    func requirements() throws -> CloudKitRequirements {
        try CloudKitRequirements(try model(), configuration: configuration)
    }

    func text() throws -> String { try String(contentsOfFile: try #require(production), encoding: .utf8) }

    func schema() throws -> CloudKitSchema { try CloudKitSchemaFile(contentsOf: try #require(production)).schema }
}

extension CloudKitRequirements {
    /// The gaps as `code RecordType.field`, without the note about sharing, which the witness does not have.
    func lines(in production: CloudKitSchema) -> [String] {
        gaps(in: production).filter { $0.code != .share }.map { "\($0.code.rawValue) \($0.name)" }
    }
}

/// The independent implementation in Python.
enum CloudKitWitness {
    /// The gaps as `code RecordType.field`.
    static func lines(_ contents: String, _ production: String, _ configuration: String? = nil) throws -> [String] {
        let script = packageRoot.appendingPathComponent("Tests/Witness/cloudkit.py").path
        let run = try ChildProcess.run(
            "/usr/bin/env",
            ["python3", "-B", script, "check", contents, "--production", production]
                + (configuration.map { ["--configuration", $0] } ?? []))
        let found = lines(run.output)
        // The exit code says the same as the codes.
        let isClean = found.allSatisfy { $0.hasPrefix("orphan ") }
        try #require(run.exit == (isClean ? 0 : 1), "\(run.output)")
        return found
    }

    /// The gaps in what the witness printed.
    static func lines(_ output: String) -> [String] {
        output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 1, !["note", "exit"].contains(words[0]) else { return nil }
            let name = words[1].hasSuffix(":") ? words[1].dropLast() : words[1]
            return "\(words[0]) \(name)"
        }
    }
}
