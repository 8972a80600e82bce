import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

/// A source and what Apple's compiler made of it are two files of one model: their stores have the same tables and
/// indexes, no statement more and none less.
@Suite(.enabled(if: Corpus.isWhole)) struct CompiledLayoutTests {  // tier: long
    private struct File {
        let path: String
        let model: ManagedObjectModel
        let hashes: VersionHashes

        /// The repository that it comes from.
        var project: Substring { path.dropFirst((Corpus.root?.path.count ?? 0) + 1).prefix { $0 != "/" } }

        func statements(_ framework: Int) throws -> Set<String> {
            try Set(StoreLayout(model: model, framework: framework).createStatements)
        }

        /// The same without the second indexes that only newer compilers make of a source.
        func plainStatements(_ framework: Int) throws -> Set<String> {
            let plain = try ManagedObjectModel(entities: model.entities, composites: model.composites)
            return try Set(StoreLayout(model: plain, framework: framework).createStatements)
        }
    }

    private func files(_ suffix: String) throws -> [File] {
        Corpus.paths { $0.hasSuffix(suffix) && !$0.contains("woocommerce") }.compactMap { path in
            // Some are no models; how many were compared is counted.
            guard let version = try? Corpus.versions(path).versions.first else { return nil }
            return File(path: path, model: version.model, hashes: version.hashes)
        }
    }

    /// The two compiled models whose source of that time is not at hand: their index was renamed later.
    private static func renaming(in path: String) -> (String) -> String {
        let isKnown = ["@44c19f56", "@8888e77f"].contains { path.contains($0) } && path.hasSuffix("SampleModel2.mom")
        return { statement in
            isKnown
                ? statement.replacing("Z_Car_maker_numberPlate", with: "Z_Car_byMakerAndNumberPlate") : statement
        }
    }

    /// A project may have renamed an index in a version that it had released: then an earlier edition of the source is
    /// the one that was compiled.
    @Test(arguments: [1526, 754])
    func `a compiled model makes what an edition of its source makes`(framework: Int) throws {
        let sources = try files(".xcdatamodel")
        var compared = 0
        for compiled in try files(".mom") {
            let editions = sources.filter {
                $0.project == compiled.project && $0.hashes.isCompatible(with: compiled.hashes)
            }
            guard !editions.isEmpty else { continue }
            compared += 1
            let made = try compiled.statements(framework)
            let wanted = try editions.flatMap { try [$0.statements(framework), $0.plainStatements(framework)] }
            let renamed = Set(made.map(Self.renaming(in: compiled.path)))
            #expect(wanted.contains(renamed), "\(compiled.path)")
        }
        #expect(compared == 58)
    }
}
