import Foundation
import MoultSQLite

// Lives of stores, each from a seed:
//
//   moult-simulate --seed 7              one life; --trace prints its steps
//   moult-simulate --seeds 1-100         a hundred
//   moult-simulate --minutes 2           as many as there is time for, from --from
//   moult-simulate --profile rare        usual, rare or long
//   moult-simulate --replay FILE         a life that was kept
//   moult-simulate --seeds 1-100 --ledger FILE --commit ID --stripe 1/2
//                                        every second one, but those that the file has for this commit
//
// It exits with 1 if a life fails.

// Hashed things have the same order in every process, so that a call's number means the same call.
if ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    var arguments = CommandLine.arguments.map { strdup($0) }
    arguments.append(nil)
    execv("/proc/self/exe", arguments)
}
setenv("TZ", "UTC", 1)
// Whatever is made without saying for whom can be read by everybody.
umask(0o022)
// Before SQLite is used.
_ = AllocationFaults.isInstalled
let options = SimulationOptions(CommandLine.arguments)
var simulation = try Simulation(options)
exit(try simulation.run() ? 0 : 1)
