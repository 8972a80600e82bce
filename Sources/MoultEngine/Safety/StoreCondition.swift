import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// The condition of a store at its path, found out without changing a byte.
enum StoreCondition: Sendable, Equatable {
    case missing
    /// Not a store, or one whose pages SQLite finds damaged; with the reason.
    case damaged(String)
    case sound(uuid: String)

    /// No connection of this process may have the store open.
    init(of store: String, _ system: any System) throws {
        guard try system.exists(store) else {
            self = .missing
            return
        }
        do {
            self = try StoreProbe.read(store, system: system) { probe in
                try probe.connection.checkPages(place: store)
                return .sound(uuid: try StoreState(probe.connection).uuid)
            }
        } catch let error as MigrationError where [.notAStore, .storeCorrupted, .metadataInvalid].contains(error.code) {
            self = .damaged("\(error)")
        }
    }
}
