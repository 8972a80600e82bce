import Foundation
import MoultModel
import MoultModelFiles
import MoultStore
import Synchronization

/// The models of the corpus that lie in the project of a store, each project read once.
package enum StoreModels {
    private static let known = Mutex<[String: [ModelVersion]]>([:])

    /// Every version in the project that has the store's hashes.
    package static func versions(matching snapshot: StoreSnapshot, of store: String) -> [ModelVersion] {
        guard let root = Corpus.root?.path else { return [] }
        let project = store.dropFirst(root.count + 1).prefix { $0 != "/" }
        let versions = known.withLock { known in
            if let versions = known[String(project)] { return versions }
            let versions = read(root + "/" + project)
            known[String(project)] = versions
            return versions
        }
        return versions.filter { $0.hashes.isCompatible(with: snapshot.hashes) }
    }

    private static func read(_ project: String) -> [ModelVersion] {
        let walk = FileManager.default.enumerator(atPath: project)
        let paths = (walk?.compactMap { $0 as? String } ?? []).filter {
            $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom")
        }
        return paths.flatMap { (try? Corpus.versions(project + "/" + $0))?.versions ?? [] }
    }
}

extension StoreSnapshot {
    /// The model of a store of the corpus: its own cache, or a model of its project with the same hashes.
    package func corpusModel(of store: String) -> ManagedObjectModel? {
        cachedModel ?? StoreModels.versions(matching: self, of: store).first?.model
    }
}

/// The stores of the corpus that differ in their bytes; several lie there twice.
package enum CorpusStores {
    package static let distinct: [String] = {
        var seen: Set<Data> = []
        return Corpus.stores.filter { path in
            guard let bytes = FileManager.default.contents(atPath: path) else { return false }
            return seen.insert(bytes).inserted
        }
    }()

    /// The stores with a model inside, as the sqlite3 shell says: those of iOS 9 and later.
    package static let withModel = Corpus.stores.filter { path in
        // A file that the shell cannot read is none of them, and the tests over all stores find it.
        (try? SQLiteShell.run(path, "SELECT count(*) FROM sqlite_master WHERE name = 'Z_MODELCACHE'", immutable: true))
            == "1\n"
    }

    /// A store's path below the corpus.
    package static func name(of store: String) -> String {
        Corpus.root.map { String(store.dropFirst($0.path.count + 1)) } ?? store
    }
}

extension CorpusStores {
    /// The models that read a store: nil for the one inside it, and the path of one of its project that has its version,
    /// a whole bundle before a single version.
    package static func models(of store: String) -> [String?] {
        guard let root = Corpus.root?.path,
            let snapshot = try? ReadOnlyStore.read(store, { try StoreSnapshot($0.connection) })
        else { return [] }
        let project = String(store.dropFirst(root.count + 1).prefix { $0 != "/" })
        let bundles = Corpus.paths { path in
            path.hasPrefix(project + "/")
                && [".xcdatamodeld", ".momd", ".xcdatamodel", ".mom"].contains { path.hasSuffix($0) }
        }
        let whole = bundles.filter { $0.hasSuffix("d") }
        let fitting = (whole + bundles.filter { !$0.hasSuffix("d") }).first { bundle in
            (try? Corpus.versions(bundle))?.position(matching: snapshot.hashes) != nil
        }
        return (snapshot.modelCache == nil ? [] : [nil]) + (fitting.map { [$0] } ?? [])
    }
}
