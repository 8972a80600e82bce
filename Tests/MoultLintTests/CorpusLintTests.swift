import Foundation
import MoultLint
import MoultModel
import MoultModelFiles
import MoultPlan
import TestSupport
import Testing

/// Real models: no error that is false.
@Suite("Lint of real models", .enabled(if: Corpus.isAvailable))
struct CorpusLintTests {
    private static let all = Corpus.paths { $0.hasSuffix(".xcdatamodeld") }
    /// The newest state of each model, and every commit of it with the tier; without what cannot be read.
    private static let models: [(path: String, bundle: ModelBundle)] =
        (Corpus.isAskedWhole ? all : all.filter { !$0.contains("/@") }).compactMap { path in
            (try? ModelBundle(contentsOf: path)).map { (path, $0) }
        }

    @Test("every model is linted, and its errors about inference are those of the plan, no more and no fewer")
    func agreesWithPlan() throws {
        #expect(Self.models.count >= 15)
        for (path, bundle) in Self.models {
            let findings = Lint().findings(in: try LintSubject(bundle), path: path)
            let versions = ModelVersions(bundle)
            // A plan over more versions joins all their edges, which takes seconds.
            let count = versions.versions.count
            guard count > 1, count < 10 || Corpus.isAskedWhole else { continue }
            let edges = try MigrationPath(versions, from: 0, to: versions.versions.count - 1).edges
            let planned = edges.flatMap { edge -> [String] in
                guard case .open(let questions, let refusals) = edge.means else { return [] }
                let places = Set(questions.map(\.place) + refusals.map(\.place))
                return places.map { "\(edge.to) \($0)" }
            }
            let found = findings.filter { $0.rule.category == .infer }.map { "\($0.version) \($0.place)" }
            #expect(Set(found) == Set(planned), "\(path)")
        }
    }

    @Test("no other error is reported without something to compare with, since these models shipped")
    func noFalseErrors() throws {
        for (path, bundle) in Self.models {
            let errors = Lint().findings(in: try LintSubject(bundle), path: path).filter {
                $0.severity == .error && $0.rule.category != .infer
            }
            #expect(errors.isEmpty, "\(errors.map { "\($0.file) \($0.rule.code) \($0.message)" })")
        }
    }

    @Test("the longest model has the findings that were judged one by one, and no others")
    func judged() throws {
        let (path, bundle) = try #require(Self.models.max { $0.bundle.versions.count < $1.bundle.versions.count })
        try #require(bundle.versions.count == 117)
        let table = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/JudgedFindings.md"), encoding: .utf8)
        let judged = table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { row in
            row.components(separatedBy: " | ").prefix(3).joined(separator: " ").dropFirst(2)
        }
        let found = Lint().findings(in: try LintSubject(bundle), path: path).map {
            "\($0.rule.code) \($0.version) \($0.place)"
        }
        #expect(judged.count == found.count)
        #expect(judged.map(String.init).sorted() == found.sorted())
    }

    @Test("between two commits of a model, what the hashes prove is called edited or deleted, and nothing else")
    func releasedVersions() throws {
        // `owner__name/@commit/…/Model.xcdatamodeld`: commits of one repository, by the bundle's name.
        let commits = Dictionary(grouping: Self.all.filter { $0.contains("/@") }) { path in
            [path.components(separatedBy: "/@")[0], (path as NSString).lastPathComponent].joined(separator: " ")
        }
        var pairs = 0
        var edited = 0
        for paths in commits.values where paths.count > 1 {
            let bundles = paths.compactMap { path in (try? ModelBundle(contentsOf: path)).map { (path, $0) } }
            for (older, newer) in zip(bundles, bundles.dropFirst()) {
                pairs += 1
                let release = LintRelease(older.1, source: "the earlier commit")
                let findings = Lint().findings(
                    in: try LintSubject(newer.1, releases: [release]), path: newer.0)
                let names = Set(newer.1.versions.map(\.name))
                for version in older.1.versions {
                    let files = [older, newer].map { $0.1.files[version.name] ?? "" }
                    let bytes = files.map { FileManager.default.contents(atPath: $0) }
                    let own = findings.filter { $0.message.contains(" version \(version.name) ") }.map(\.rule.code)
                    if bytes[0] != nil, bytes[0] == bytes[1] {
                        #expect(!own.contains("OPEN001") && !own.contains("OPEN002"), "\(files)")
                    }
                    // The hashes prove an edit, or that the version is gone; nothing else is one.
                    let isGone = !newer.1.versions.contains { $0.hashes.checksum == version.hashes.checksum }
                    #expect(own.contains { ["OPEN001", "OPEN002"].contains($0) } == isGone, "\(files)")
                    if own.contains("OPEN001") {
                        edited += 1
                        #expect(names.contains(version.name) && bytes[0] != bytes[1], "\(files)")
                    }
                }
            }
        }
        #expect(pairs >= 10, "\(pairs)")
        print("lint: \(pairs) pairs of commits, \(edited) edits of a version")
    }
}
