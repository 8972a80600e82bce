import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// A small store and calls that migrate it piece by piece.
struct PacedStore {
    let fixture: EngineFixture
    var options: MigrationOptions
    var system: any System = POSIXSystem()
    var preparation = PreparedMigration.Options(losses: .asTheVersionsSay())
    var versions: ModelVersions

    init(rows: Int = 300, isWAL: Bool = false) throws {
        fixture = try EngineFixture(killable: rows, isWAL: isWAL)
        options = MigrationOptions()
        options.keysPerPiece = 60
        options.isSequential = true
        preparation.continuesEarlierCall = true
        // A run with a budget makes every changed table anew; so does the one that it is compared with.
        preparation.choice = .normalised
        versions = try KillableVersions.make()
    }

    var store: String { fixture.store }
    var migrator: Migrator { Migrator(options: options, system: system) }

    func prepared() throws -> PreparedMigration {
        try PreparedMigration(store, versions: versions, options: preparation, system: system)
    }

    func call(
        _ limit: CallLimit = .one, _ observer: MigrationObserver = .none
    ) throws -> BudgetOutcome {
        try migrator.run(try prepared(), within: limit, observer)
    }

    /// Calls until the migration is done, at most 500 times; what each pause said.
    @discardableResult
    func callUntilDone(
        _ limit: CallLimit = .one, between: (MigrationPause) throws -> Void = { _ in }
    ) throws -> (pauses: [MigrationPause], outcome: MigrationOutcome?) {
        var pauses: [MigrationPause] = []
        while pauses.count < 500 {
            let outcome = try call(limit)
            guard let pause = outcome.pause else { return (pauses, outcome.finished) }
            pauses.append(pause)
            try between(pause)
        }
        return (pauses, nil)
    }

    /// What the sqlite3 shell says of the store after one whole run on a copy of it.
    func hashOfOneRun() throws -> String {
        let folder = try ScratchFolder()
        let copy = folder.path + "/" + URL(fileURLWithPath: store).lastPathComponent
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + suffix)
        }
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.choice = .normalised
        let prepared = try PreparedMigration(copy, versions: versions, options: options)
        _ = try Migrator().run(prepared)
        return try SQLiteShell.run(copy, ".sha3sum --schema")
    }
}

extension BudgetOutcome {
    var pause: MigrationPause? { if case .paused(let pause) = self { pause } else { nil } }
    var finished: MigrationOutcome? { if case .finished(let outcome, _) = self { outcome } else { nil } }
    var startedOver: String? {
        switch self {
        case .finished(_, let reason): reason
        case .paused(let pause): pause.startedOver
        case .nothingToDo: nil
        }
    }
}
