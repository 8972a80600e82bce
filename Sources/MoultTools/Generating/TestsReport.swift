import MoultEngine
import MoultGenerate
import MoultModel
import MoultPlan
import MoultReport
import MoultSystem
import MoultTransform

/// Swift tests of the migrations between pairs of versions, written into a file.
package struct TestsReport: ToolAnswer {
    private let path: String
    private let pairs: [(pair: MigrationTests.Pair, fate: MigrationTests.Fate)]
    private let skipped: [(pair: String, reason: String)]

    /// The pairs of versions that are tested.
    package struct Pairs {
        let tested: [MigrationTests.Pair]
        /// Pairs between which no mapping can be inferred.
        let skipped: [(pair: String, reason: String)]

        /// - Parameter target: the version that the pairs end with; nil for all.
        /// - Throws: `usage` for a model with one version; what mapping the versions throws.
        package init(
            _ versions: ModelVersions, to target: String?, answers: Answers, _ registry: MigrationRegistry
        ) throws {
            let all = versions.versions
            guard all.count > 1 else {
                throw MigrationError.wrongRequest("The model has one version, so there is no migration to test.")
            }
            let registered = try registry.stages(in: versions)
            var tested: [MigrationTests.Pair] = []
            var skipped: [(pair: String, reason: String)] = []
            for to in try target.map({ [try versions.target(named: $0)] }) ?? Array(all.indices) {
                for from in 0..<to {
                    do throws(MigrationError) {
                        tested.append(
                            try MigrationTests.Pair(
                                versions, from: from, to: to, answers: answers, registered: registered))
                    } catch {
                        guard [.question, .cannotInfer].contains(error.code) else { throw error }
                        skipped.append(("\(all[from].name) → \(all[to].name)", error.message))
                    }
                }
            }
            (self.tested, self.skipped) = (tested, skipped)
        }
    }

    /// Writes the tests into a file; what a person has edited there stays.
    ///
    /// - Parameters:
    ///   - name: the base name of the tests.
    ///   - output: a `.swift` file, or the folder for it.
    ///   - registry: the Swift expression for the app's registry; nil for tests that read `model`.
    package init(
        _ pairs: Pairs, named name: String, ofModelAt model: String, registry: String?, imports: [String],
        to output: String
    ) throws {
        let tests =
            registry.map { MigrationTests(named: name, imports: imports, registry: $0, pairs: pairs.tested) }
            ?? MigrationTests(named: name, ofModelAt: model, imports: imports, pairs: pairs.tested)
        path = output.hasSuffix(".swift") ? output : Path.join(output, tests.fileName)
        let system = POSIXSystem()
        let existing = try system.exists(path) ? try system.read(path) : nil
        let merged = try tests.merged(into: existing.map { String(decoding: $0, as: UTF8.self) }, place: path)
        if existing != Array(merged.text.utf8) {
            try UnfinishedPath.replace([(path, Array(merged.text.utf8))], makingFolders: true, .byUmask, system)
        }
        self.pairs = zip(pairs.tested, merged.fates).map { ($0, $1) }
        skipped = pairs.skipped
    }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path),
            "pairs": .array(
                pairs.map {
                    ["from": .string($0.pair.from), "to": .string($0.pair.to), "state": .string($0.fate.rawValue)]
                }),
            "skipped": .array(skipped.map { ["pair": .string($0.pair), "reason": .string($0.reason)] }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let counts = [MigrationTests.Fate.added, .updated, .unchanged, .edited].compactMap { fate in
            let count = pairs.count { $0.fate == fate }
            return count == 0 ? nil : "\(Quantity.count(count)) \(fate.rawValue)"
        }
        return ["Wrote \(Quantity.count(pairs.count, "pair")) to \(path.printable): \(counts.joined(separator: ", "))."]
            + skipped.map { "Left out \($0.pair.printable). \($0.reason.printable)" }
    }
}
