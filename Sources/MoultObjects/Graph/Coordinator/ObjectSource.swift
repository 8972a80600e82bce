import MoultModel
import MoultSystem

/// The source that a context reads from: the stores, or a parent context with what it has not saved.
protocol ObjectSource: AnyObject {
    /// The states of objects; those that are gone are left out.
    func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot]
    func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]]
    /// Whether more than one store answers a fetch, so that its results are not in one order.
    func isSpread(over entityName: String) -> Bool
    func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID]
    func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot]
    func count(_ fetch: ObjectFetch) throws -> Int
}
