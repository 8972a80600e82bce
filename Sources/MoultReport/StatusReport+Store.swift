import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

extension StatusReport {
    /// Looks at a store without changing a byte of it.
    ///
    /// - Parameter target: the version aimed at; nil for the current one, or the last.
    /// - Throws: `noPath` if there is no version of that name; what reading a damaged store throws.
    package init(of store: String, in versions: ModelVersions, target: String?) throws {
        do {
            let (snapshot, recognition) = try StoreProbe.read(store) { probe in
                let snapshot = try StoreSnapshot(probe.connection)
                return (snapshot, try StoreRecognition(of: snapshot, in: versions, target: target))
            }
            let migrator = Migrator()
            let underWay = try migrator.underWay(store)
            let isUnfinished = try underWay == nil && migrator.isUnfinished(store)
            // Of a store that is of no version, or has another tool's work, the mark is all there is to say.
            let tasks =
                snapshot.metadata.hasDeferredWork
                ? (try? migrator.deferredTasks(of: store, versions: versions)) ?? [] : []
            try self.init(
                recognition, of: snapshot, in: versions, target: target, isRunUnfinished: isUnfinished,
                underWay: underWay, deferredTasks: tasks, leftOutside: try migrator.leftOutside(store),
                paused: try migrator.paused(store))
        } catch let error as MigrationError {
            guard let status = VersionStatus(error) else { throw error }
            try self.init(status, in: versions, target: target)
        }
    }
}
