import FaultCases
import Foundation
import MoultSQLite
import MoultSystem
import MoultTesting

// moult-faults [OPTION…]   every kind of migration with every kind of fault at every moment
//
//   --seconds S     stop each series of trials after about so many seconds: a sample
//   --seeds N       so many seeds for what a fault leaves to chance; 4 by default
//   --case WORDS    only kinds of migration whose name has the words
//   --fault WORDS   only kinds of fault whose name has the words
//   --at N --seed S one trial
//   --write FILE    put the table into the file, between its two marks
//
// It exits with 1 where something that was promised was not kept.

// Before anything else uses SQLite.
let countsAllocations = AllocationFaults.isInstalled
let options = FaultOptions(CommandLine.arguments)
let campaign = try FaultCampaign(options, countsAllocations: countsAllocations)
if let fault = options.single {
    exit(try campaign.tryOne(fault) ? 0 : 1)
}
let matrix = try campaign.run()
say(matrix.markdown)
for words in matrix.broken { say("BROKEN: \(words)") }
if let path = options.file { try SafetyPage(path).write(matrix, options) }
say("faults: \(matrix.tried) trials, \(matrix.broken.count) broken")
exit(matrix.broken.isEmpty ? 0 : 1)
