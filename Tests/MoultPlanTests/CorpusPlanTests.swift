import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@testable import MoultPlan

/// Real histories of real models.
@Suite(.enabled(if: Corpus.isAskedWhole)) struct CorpusPlanTests {
    private static let chain = Result<(versions: ModelVersions, open: MigrationPath), any Error> {
        let paths = Corpus.paths { $0.hasSuffix("/WooCommerce.xcdatamodeld") }
        let versions = try Corpus.versions(try #require(paths.first))
        return (versions, try MigrationPath(versions, from: 0, to: versions.versions.count - 1))
    }

    /// What a person who knows the model would answer.
    private static let answers: [(Int, String, String?, Answer.Verdict, String?)] = [
        (9, "Order", "statusKey", .rename, "status"), (31, "GenericAttribute", nil, .rename, "Attribute"),
        (74, "CustomerSearchResult", "siteID", .new, nil), (87, "OrderGiftCard", "amount", .drop, nil),
    ]

    /// The one edge that needs more: the app itself has a mapping model for it.
    private static let stage = RegisteredStage(
        from: "Model 32", to: "Model 33", name: "WooCommerceModelV32toV33", sentence: "It dates the products.",
        mapping: .success(ResolvedMapping(entityMappings: [])))

    private static func recorded() throws -> Answers {
        try Answers(
            answers.map { version, entity, property, verdict, old in
                Answer(
                    from: "Model \(version)", to: "Model \(version + 1)", entity: entity, property: property,
                    is: verdict, old: old)
            })
    }

    @Test func `every edge of the long chain is inferable, asked about or refused by name`() throws {
        let (versions, path) = try Self.chain.get()
        let inferable = path.edges.count(where: \.isInferable)
        print(
            "woocommerce unanswered: \(versions.versions.count) versions, \(path.edges.count) edges,",
            "\(inferable) inferable at once, \(path.questions.count) questions,",
            "\(path.edges.flatMap(\.diff.changes).count) changes,",
            "\(path.edges.count(where: \.losesData)) edges may lose, \(path.edges.count(where: \.mayFail)) may fail")
        #expect(path.edges.count == 116)
        #expect(inferable == 111)
        #expect(
            path.questions.map { "\($0.from) \($0.place)" }.sorted()
                == Self.answers.map { "Model \($0.0) \($0.1)\($0.2.map { "." + $0 } ?? "")" }.sorted())
        #expect(
            path.refusals.flatMap(\.refusals).map(\.place) == ["Order.statusKey", "Product.date"])
    }

    @Test func `with its answers the whole chain runs, and every pair of versions has a plan`() throws {
        let versions = try Self.chain.get().versions
        let last = versions.versions.count - 1
        let answers = try Self.recorded()
        let plan = try MigrationPlan(versions, from: "Model", answers: answers, registered: [Self.stage])
        print("woocommerce answered: \(plan.edges.count) edges in passes", plan.passes.map(\.newer.name))
        #expect(plan.edges.count(where: \.isInferable) == 115)
        // Each pair: the same edges, joined from another start. MOULT_CASES asks for all of them.
        let step = ProcessInfo.processInfo.environment["MOULT_CASES"] == nil ? 29 : 1
        var pairs = 0
        for start in stride(from: 0, to: last, by: step) {
            var walker = PathWalker(versions: versions, answers: answers)
            for end in stride(from: last, to: start, by: step == 1 ? -12 : -58) {
                let edges = Array(plan.edges[start..<end])
                let passes = try walker.passes(over: edges, from: start)
                #expect(passes.first?.olderPosition == start)
                #expect(passes.last?.newerPosition == end)
                #expect(!walker.questions.contains { $0.kind != .returned })
                pairs += 1
            }
        }
        print("woocommerce: \(pairs) pairs of versions joined")
    }

    /// The app's own release notes are the witness of what changed from one version to the next.
    @Test func `what the release notes say was added or removed is in the difference`() throws {
        let path = try Self.chain.get().open
        let notes = try #require(Corpus.paths { $0.hasSuffix("/Model/MIGRATIONS.md") }.first)
        let edges = Dictionary(path.edges.map { ($0.to, $0.diff) }) { first, _ in first }
        var version = ""
        var (said, missing) = (0, [String]())
        for line in try String(contentsOfFile: notes, encoding: .utf8).split(separator: "\n") {
            if let heading = line.firstMatch(of: /^## (Model [0-9]+)/) { version = String(heading.1) }
            guard let change = Self.change(in: line), let diff = edges[version] else { continue }
            said += 1
            let found = diff.changes.contains { $0.kind == change.kind && $0.place == change.place }
            if !found { missing.append("\(version): \(change.kind.rawValue) \(change.place)") }
        }
        print("release notes: \(said) changes named, \(said - missing.count) found, otherwise: \(missing)")
        #expect(said == 86)
        // A relationship called an attribute, an attribute called an entity, a capital letter.
        #expect(
            missing == [
                "Model 93: entity-added username", "Model 81: attribute-added Product.bundledItems",
                "Model 60: attribute-added Order.OrderKey",
            ])
    }

    private static func change(in line: Substring) -> (kind: ModelChange.Kind, place: String)? {
        if let match = line.firstMatch(of: /- (Added?|Removed) `(\w+)` attribute (to|from) `(\w+)` entity/) {
            return (match.1 == "Removed" ? .attributeRemoved : .attributeAdded, "\(match.4).\(match.2)")
        }
        if let match = line.firstMatch(of: /- (Added?|Removed) `(\w+)` +entity/) {
            return (match.1 == "Removed" ? .entityRemoved : .entityAdded, String(match.2))
        }
        return nil
    }

    @Test func `every history of the corpus has a difference for each edge that tells of every changed hash`() throws {
        var (bundles, edges, inferable, questions, refused) = (0, 0, 0, 0, 0)
        for path in Corpus.paths(where: { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }) {
            // Some models of the iPhone OS 3 era have a form that is not read.
            guard let versions = try? Corpus.versions(path), versions.versions.count > 1 else { continue }
            bundles += 1
            let way = try MigrationPath(versions, from: 0, to: versions.versions.count - 1)
            for edge in way.edges {
                edges += 1
                let hashes = (versions.versions[edge.older].hashes, versions.versions[edge.newer].hashes)
                #expect(edge.diff.hashed.isEmpty == (hashes.0 == hashes.1), "\(path) \(edge.from)")
                if edge.isInferable { inferable += 1 }
                questions += edge.questions.count
                refused += edge.refusals.count
            }
        }
        print(
            "other histories: \(bundles) with \(edges) edges, \(inferable) inferable at once, \(questions) questions,",
            "\(refused) refusals")
        #expect(edges > 20)
    }
}
