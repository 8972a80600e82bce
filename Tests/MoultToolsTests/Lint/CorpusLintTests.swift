import Foundation
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// Real models: no error that is false.
@Suite("Lint of real models", .enabled(if: Corpus.isWhole))
struct CorpusLintTests {  // tier: long
    private static let all = Corpus.paths { $0.hasSuffix(".xcdatamodeld") }
    /// The newest state of each model, and every commit of it with the tier; without what cannot be read.
    private static let models: [(path: String, bundle: ModelBundle)] =
        (Corpus.isAskedWhole ? all : all.filter { !$0.contains("/@") }).compactMap { path in
            (try? ModelBundle(contentsOf: path)).map { (path, $0) }
        }

    @Test
    func `every model is linted, and its errors about inference are those of the plan, no more and no fewer`() throws {
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

    @Test func `no other error is reported without something to compare with, since these models shipped`() throws {
        for (path, bundle) in Self.models {
            let errors = Lint().findings(in: try LintSubject(bundle), path: path).filter {
                $0.severity == .error && $0.rule.category != .infer
            }
            #expect(errors.isEmpty, "\(errors.map { "\($0.file) \($0.rule.code) \($0.message)" })")
        }
    }

    @Test func `the longest model has the findings that were judged one by one, and no others`() throws {
        let (path, bundle) = try #require(Self.models.max { $0.bundle.versions.count < $1.bundle.versions.count })
        try #require(bundle.versions.count == 117)
        let table = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/Tables/lint.csv"), encoding: .utf8)
        let judged = table.split(separator: "\n").dropFirst().map { row in
            row.split(separator: ",", omittingEmptySubsequences: false).prefix(3).joined(separator: " ")
        }
        let found = Lint().findings(in: try LintSubject(bundle), path: path).map {
            "\($0.rule.code) \($0.version) \($0.place)"
        }
        #expect(judged.count == found.count)
        #expect(judged.sorted() == found.sorted())
    }

    /// The hashes of models in XML, by a witness in Python that shares no code with Moult: by file, the checksum, and the
    /// hashes of the entities as one text.
    private static let witness: [String: (checksum: String, entities: String)] = {
        let files = Corpus.paths { $0.hasSuffix(".xcdatamodel/contents") }
        guard let folder = try? ScratchFolder() else { return [:] }
        let list = folder.path + "/list"
        try? files.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        let script = packageRoot.appendingPathComponent("Tests/Witness/hashes.py").path
        let run = try? ChildProcess.run("/usr/bin/env", ["python3", script, list])
        let rows = (run?.output.split(separator: "\n") ?? []).compactMap { line in
            try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
        return Dictionary(
            rows.map { row in
                (
                    row["path"] as? String ?? "",
                    (row["checksum"] as? String ?? "", text(row["entities"] as? [String: String] ?? [:]))
                )
            }
        ) { first, _ in first }
    }()

    private static func text(_ hashes: [String: String]) -> String {
        hashes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ",")
    }

    /// What Xcode's compiler wrote into `VersionInfo.plist`: the hashes of each version's entities, as one text.
    private static func compiledHashes(of bundle: String) throws -> [String: String] {
        let list = try Data(contentsOf: URL(fileURLWithPath: bundle + "/VersionInfo.plist"))
        let whole = try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any]
        let versions = try #require(whole?["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
        return versions.mapValues { text($0.mapValues { $0.base64EncodedString() }) }
    }

    /// Bundles of one name in one repository, each pair of neighbouring commits in both directions.
    private static func pairs(_ paths: [String]) -> [(older: String, newer: String)] {
        // `owner__name/@commit/…/Model.xcdatamodeld`
        let commits = Dictionary(grouping: paths.filter { $0.contains("/@") }) { path in
            [path.components(separatedBy: "/@")[0], (path as NSString).lastPathComponent].joined(separator: " ")
        }
        return commits.values.flatMap { paths in
            zip(paths, paths.dropFirst()).flatMap { [($0, $1), ($1, $0)] }
        }
    }

    /// What the rules about released versions say of each version of the older bundle.
    private func released(_ older: ModelBundle, _ newer: ModelBundle) throws -> [String: Set<String>] {
        let release = LintRelease(older, source: "the earlier commit")
        let findings = Lint().findings(in: try LintSubject(newer, releases: [release]), path: newer.path)
        return Dictionary(
            uniqueKeysWithValues: older.versions.map(\.name).map { name in
                let own = findings.filter { finding in
                    ["The version \(name) differs ", "The released version \(name) in "].contains {
                        finding.message.hasPrefix($0)
                    }
                }.map(\.rule.code)
                return (name, Set(own).intersection(["OPEN001", "OPEN002"]))
            })
    }

    @Test func `between two commits of a model, only what the hashes prove is called edited or deleted`() throws {
        var (pairs, edited, deleted) = (0, 0, 0)
        for (olderPath, newerPath) in Self.pairs(Self.all) {
            guard let older = try? ModelBundle(contentsOf: olderPath),
                let newer = try? ModelBundle(contentsOf: newerPath)
            else { continue }
            pairs += 1
            let now = Dictionary(
                uniqueKeysWithValues: newer.files.map { ($0.key, Self.witness[$0.value]?.checksum ?? "") })
            for (name, codes) in try released(older, newer) {
                let file = older.files[name] ?? ""
                guard let checksum = Self.witness[file]?.checksum, !checksum.isEmpty, !now.values.contains("") else {
                    continue
                }
                let isKept = now.values.contains(checksum)
                // A version of the name is edited; without one, it is deleted, or renamed with its identifier.
                let isProven: Set<String> = isKept ? [] : [now[name] != nil ? "OPEN001" : "OPEN002"]
                #expect(
                    codes == isProven || !isKept && now[name] == nil && codes == ["OPEN001"], "\(file) \(newerPath)")
                edited += codes.contains("OPEN001") ? 1 : 0
                deleted += codes.contains("OPEN002") ? 1 : 0
            }
        }
        print("lint: \(pairs) pairs of commits, \(edited) edits and \(deleted) deletions of a version")
        #expect(pairs >= 40 && edited >= 10, "\(pairs) \(edited)")
    }

    @Test func `between commits of a compiled model, only what Xcode's hashes prove is edited or deleted`() throws {
        var (pairs, edited, deleted) = (0, 0, 0)
        for (olderPath, newerPath) in Self.pairs(Corpus.paths { $0.hasSuffix(".momd") }) {
            let (was, now) = (try? Self.compiledHashes(of: olderPath), try? Self.compiledHashes(of: newerPath))
            guard let was, let now, let older = try? ModelBundle(contentsOf: olderPath),
                let newer = try? ModelBundle(contentsOf: newerPath)
            else { continue }
            pairs += 1
            for (name, codes) in try released(older, newer) {
                guard let hashes = was[name] else { continue }
                let isKept = now.values.contains(hashes)
                let isProven: Set<String> = isKept ? [] : [now[name] != nil ? "OPEN001" : "OPEN002"]
                #expect(
                    codes == isProven || !isKept && now[name] == nil && codes == ["OPEN001"], "\(olderPath) \(name)")
                edited += codes.contains("OPEN001") ? 1 : 0
                deleted += codes.contains("OPEN002") ? 1 : 0
            }
        }
        print("lint: \(pairs) pairs of compiled models, \(edited) edits and \(deleted) deletions of a version")
        #expect(pairs >= 10, "\(pairs)")
    }

    @Test func `the witness computes the hashes that Xcode's compiler wrote`() throws {
        var equal = 0
        for list in Corpus.paths(where: { $0.hasSuffix(".momd") }) {
            let hashes = (try? Self.compiledHashes(of: list)) ?? [:]
            let repository = list.components(separatedBy: "/corpus/").last?.components(separatedBy: "/").first ?? ""
            for (name, own) in hashes {
                let namesakes = Self.witness.filter {
                    $0.key.contains("/\(repository)/") && $0.key.hasSuffix("/\(name).xcdatamodel/contents")
                }
                guard !namesakes.isEmpty else { continue }
                #expect(namesakes.values.contains { $0.entities == own }, "\(list) \(name)")
                equal += 1
            }
        }
        #expect(equal >= 54, "\(equal)")
    }
}
