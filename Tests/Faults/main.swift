import FaultCases
import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultTesting

// moult-faults [OPTION…]   every kind of migration with every kind of fault at every moment
//
//   --seconds S     stop each series of trials after about so many seconds: a sample, which the next run goes on with
//   --seeds N       so many seeds for what a fault leaves to chance; 4 by default
//   --jobs N        so many processes side by side; as many as there are processors by default
//   --results DIR   keep the rows there, and go on where those end that are there
//   --case WORDS    only kinds of migration whose name has the words, or is =WORDS
//   --fault WORDS   only kinds of fault whose name has the words, or is =WORDS
//   --at N --seed S one trial
//   --write FILE    put the tables into the file, between their marks
//
// It exits with 1 where something that was promised was not kept. Its own processes are told
//
//   --row FILE      to run one series from where the row there ends, and put its row there
//   --work CASE STORE   to do the work of a kind of migration, to be killed, stopped or starved meanwhile

let options = FaultOptions(CommandLine.arguments)
if let work = options.work { exit(Worker.work(work.faultCase, on: work.store)) }
// Before anything else uses SQLite.
let countsAllocations = AllocationFaults.isInstalled
if let fault = options.single {
    let run = SeriesRun(options, countsAllocations: countsAllocations)
    exit(try run.tryOne(at: fault.at, seed: fault.seed) ? 0 : 1)
}
if let row = options.row {
    try SeriesRun(options, countsAllocations: countsAllocations).writeRow(to: row)
    exit(0)
}
guard let (faults, real) = try FaultCampaign(options, countsAllocations: countsAllocations).run() else {
    say("interrupted; the same command goes on")
    exit(130)
}
for matrix in [faults, real] where !matrix.rows.isEmpty { say(matrix.markdown) }
let broken = faults.broken + real.broken
for words in broken { say("BROKEN: \(words)") }
if let path = options.file { try SafetyPage(path).write(faults, real, options) }
say("faults: \(faults.tried + real.tried) trials, \(broken.count) broken")
exit(broken.isEmpty ? 0 : 1)
