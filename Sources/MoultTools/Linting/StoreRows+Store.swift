import MoultEngine
import MoultLint
import MoultModel
import MoultReport
import MoultStore

extension StoreRows {
    /// The objects of a store, for the changes that concern them, and what a plan says of their values.
    ///
    /// - Parameter context: that of the plan; if there are open questions, there is none.
    /// - Throws: `storeUnknown` for a store of another app, or of none of the versions.
    init(ofStore path: String, _ context: StoreSession.Context) throws {
        let versions = context.versions
        let (version, counts) = try StoreProbe.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let known = Set(versions.versions.flatMap { $0.model.entities.map(\.name) })
            guard !known.isDisjoint(with: snapshot.hashes.entities.keys) else {
                throw MigrationError(
                    .storeUnknown, "The store has none of the model's entities, so it is of another app.", place: path,
                    remedy: "Name a store of this model.")
            }
            let identifiers = snapshot.metadata.versionIdentifiers
            guard let place = versions.place(of: snapshot.hashes, identifiers: identifiers) else {
                throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
            }
            let version = try place.version.held(by: snapshot.hashes)
            let counts = try snapshot.objectCounts(of: version.model, over: probe.connection)
            return (version.name, counts.compactMapValues { $0 })
        }
        var context = context
        // A released version that has changed is a finding of its own, and stands in the way of no plan here.
        context.versions.findings = []
        let prepared = (try? StoreSession(StoreRequest(path, .plan), context))?.prepared
        let losses = (try? prepared?.foreseenLosses()) ?? []
        self.init(
            version: version, counts: counts,
            findings: (prepared?.bound?.rowFindings ?? []) + losses.compactMap(\.loss.finding))
    }
}
