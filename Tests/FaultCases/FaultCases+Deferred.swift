import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// Migrations that put work off, and the work itself.
extension FaultCases {
    private static func makeStore(at store: String) throws {
        let maker = try StoreCreator(DeferrableVersions.make().versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: 24, isHostile: false).fill(writer)
        try writer.finish()
    }

    private static func putOff(_ store: String, _ system: any System) throws {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        try migrate(store, try DeferrableVersions.make(), system, options)
    }

    private static func finish(_ store: String, _ limit: CallLimit, _ system: any System) throws {
        _ = try Migrator(options: .sequential, system: system).finishDeferred(store, limit)
    }

    private static let links = """
        SELECT Z_PK, ZPLACE, ZITEM FROM ZLINK ORDER BY 1; SELECT Z_PK, ZNAME FROM ZAUTHOR ORDER BY 1;
        SELECT Z_UUID FROM Z_METADATA
        """

    static var deferred: FaultCase {
        get throws {
            var trial = FaultCase("deferred") {
                try makeStore(at: $0)
            } run: {
                try putOff($0, $1)
            }
            trial.contents = { try lines($0, links) }
            return trial
        }
    }

    /// Each task is a state of its own at which the work may stay.
    static var finished: FaultCase {
        get throws {
            var trial = FaultCase("deferred work finished") { store in
                try makeStore(at: store)
                try putOff(store, POSIXSystem())
            } run: { store, system in
                try finish(store, .all, system)
            }
            trial.tellsByItself = true
            trial.stops = (1...3).map { count in
                { store, system in for _ in 0..<count { try finish(store, .one, system) } }
            }
            trial.contents = { try lines($0, "SELECT Z_PK, ZTITLE, ZSCORE, hex(ZDATA) FROM ZITEM ORDER BY 1;" + links) }
            return trial
        }
    }
}
