import Foundation
import MoultEngine
import MoultModel
import MoultStore
import MoultSystem

// engine-child migrate STORE    the identity migration; prints each phase as it begins
// engine-child change STORE     makes the table ZITEM anew from the backup
// engine-child hold STORE       takes the lock and waits to be killed

/// Prints a phase once, at once.
final class PhasePrinter: @unchecked Sendable {
    private var last = ""
    private let lock = NSLock()

    func print(_ phase: String) {
        lock.withLock {
            guard phase != last else { return }
            last = phase
            FileHandle.standardOutput.write(Data("\(phase)\n".utf8))
        }
    }
}

let printer = PhasePrinter()
let observer = MigrationObserver(onProgress: { printer.print($0.phase.rawValue) })
guard CommandLine.arguments.count == 3 else { exit(2) }
let store = CommandLine.arguments[2]
do {
    switch CommandLine.arguments[1] {
    case "migrate":
        _ = try Migrator().run(Migration(from: "1", to: "2"), on: store, observer)
    case "change":
        let script = StoreScript(statements: [
            .init("DROP TABLE main.ZITEM", "The table is dropped"),
            .init(
                "CREATE TABLE main.ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZNAME VARCHAR)", "It is made anew"),
            .init(
                "INSERT INTO main.ZITEM SELECT Z_PK, Z_ENT, upper(ZNAME) FROM source.ZITEM", "Its rows are filled in",
                rows: 100_000),
        ])
        _ = try Migrator().run(Migration(script, from: "1", to: "2"), on: store, observer)
    case "hold":
        let lock = try StoreLock(store, POSIXSystem())
        printer.print("held")
        withExtendedLifetime(lock) { while true { sleep(1) } }
    default: exit(2)
    }
} catch let error as MigrationError {
    printer.print("error \(error.code)")
    exit(error.exitCode)
}
