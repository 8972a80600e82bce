import Moult
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore

/// The models that a command without one may mean: those in the working folder and next to its store.
package struct NearbyModels: Sendable {
    /// The model to use for a store.
    package struct Choice: Sendable {
        /// The path of the model; nil if no model is chosen.
        package var path: String?
        /// A sentence about the choice; nil if there is nothing to say.
        package var notice: String?
    }

    /// The reason for which a command wants a model.
    package enum Purpose: Sendable {
        /// To read the store: only a model that has its version helps.
        case reading
        /// To compare the store with the newest version: a store of no version of its own model is an answer too.
        case comparing
        /// To find out what is wrong: the store may be unreadable.
        case diagnosing
    }

    /// The paths of the models, those in the working folder first.
    package let paths: [String]

    /// Takes the models that a configuration names.
    package init(paths: [String]) { self.paths = paths }

    /// Looks for models in the working folder and, if a store is given, in the store's folder.
    package init(store: String? = nil, on system: any System = POSIXSystem()) {
        var seen: Set<String> = []
        let folders = (["."] + (store.map { [Path.folder(of: $0)] } ?? [])).filter { folder in
            seen.insert((try? system.resolve(folder)) ?? folder).inserted
        }
        paths = folders.flatMap { folder in
            ModelBundle.paths(in: folder).map { folder == "." ? $0 : Path.join(folder, $0) }
        }
    }

    /// Chooses the one model that a store can be of.
    ///
    /// - Parameters:
    ///   - order: the order of the model's versions, as the caller gives it.
    ///   - known: the versions of models that were read before, to which this adds; nil for one that cannot be read.
    package func choice(
        for store: String, _ purpose: Purpose, order: [String]? = nil, known read: inout [String: ModelVersions?]
    ) -> Choice {
        guard !paths.isEmpty else { return Choice() }
        guard let snapshot = try? ReadOnlyStore.read(store, { try StoreSnapshot($0.connection) }) else {
            // The pages of a damaged store may still show its version.
            let isDatabase = (try? ReadOnlyStore.isDatabase(store)) ?? false
            return Choice(path: purpose == .diagnosing && isDatabase && paths.count == 1 ? paths[0] : nil)
        }
        let models = paths.map { path in
            let versions = read[path] ?? (try? ModelVersions(ModelBundle(modelOrStoreAt: path, order: order)))
            read[path] = .some(versions)
            return (path, versions)
        }
        let known = models.filter { _, versions in
            versions?.position(matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers) != nil
        }.map(\.0)
        let all = paths.map(\.printable).joined(separator: ", ")
        if known.count > 1 {
            let several = known.map(\.printable).joined(separator: ", ")
            return Choice(
                notice: String(
                    advice: """
                        Several models nearby have the version of \(store.printable): \(several). None of them is used: \
                        name one with \(option: .model(nil)).
                        """))
        }
        if let path = known.first {
            guard purpose != .reading else { return Choice(path: path) }
            return Choice(
                path: path,
                notice: paths.count == 1
                    ? Self.isUsed(path)
                    : "There are several models nearby: \(all). Only \(path.printable) has the version of the store, so it "
                        + "is used.")
        }
        guard purpose != .reading else { return Choice() }
        // A store of the same app may have a version that the model lacks.
        let entities = Set(snapshot.hashes.entities.keys)
        let related = models.filter { _, versions in
            let names = Set((versions?.versions ?? []).flatMap { $0.model.entities.map(\.name) })
            return !entities.isEmpty && names.intersection(entities).count * 2 >= entities.count
        }.map(\.0)
        if related.count == 1 { return Choice(path: related[0], notice: Self.isUsed(related[0])) }
        return Choice(
            notice: paths.count == 1
                ? "The model nearby, \(all), has no version of this store."
                : "There are several models nearby, and none has the version of this store: \(all).")
    }

    /// Chooses the one model that a store can be of.
    package func choice(for store: String, _ purpose: Purpose, order: [String]? = nil) -> Choice {
        var read: [String: ModelVersions?] = [:]
        return choice(for: store, purpose, order: order, known: &read)
    }

    private static func isUsed(_ path: String) -> String {
        "No model is named: \(path.printable), the one nearby, is used."
    }
}
