import Foundation
import MoultBasics

// The simulator: a life of a store from a seed.
//
// A *life* is a chain of models, a store, one to three programs and what they do to it, on a disk and with a clock that
// fail on purpose. The seed makes the models (`ModelHistory`: every attribute type, inheritance, every kind of
// relationship, renames, types that widen or lose values, changes that no hash sees, an app's stages, mapping models
// and policies) and the store, and then chooses step by step what happens (`LifeSchedule`): saves over the objects' API
// and over Core Data's, migrations in every way, rollbacks, moves, repairs, deferred work, budgets, prunes, exports,
// deletions of history. Everything runs in one process and one thread, over one `FaultDisk`: the VFS below SQLite and
// the `System` that Moult uses. Names, UUIDs and SQLite's random numbers follow from the seed. The same seed and build
// give the same trace, with digests of the store's bytes and its log's; its own digest is printed.
//
// The *reference* (`HistoryWorld`) knows what the models say and the objects as values: a dictionary of objects with
// texts for attributes and numbers for links. It uses no code of the engine and no SQL. After each step the *witness*
// (`StoreWitness`, the sqlite3 C API and the letter of the store's format) reads a copy of the store. The store must be
// what the reference says; around a fault, what it was or what the work leads to. So must every backup, when it appears.
// A new file elsewhere, a store or an archive, is whole or not there.
// A refusal needs a reason that the reference agrees with (`Work.refusals`), and an error after a fault one in the fault;
// a report must count the losses that the reference counts; the faces must agree about the status, the objects, the
// findings and the plan; no key and no transaction of history is given twice; a save that fails for certain has saved
// nothing; the last backup of a version stays, and one whose manifest cannot be read is there; a run leaves no new file
// of external data that no row names; nothing is wider readable than the store, which keeps its permissions. What a disk
// writes wrong for a program, and not for Moult, is not compared: the newest backup must bring the store back.
//
// A life that fails is cut down (`LifeShrinker`) and written to Tests/Simulation/Kept, where it is a test from then on. A
// ledger (`LifeLedger`) lets several processes, one after another or side by side, live the seeds of one range.
//
// In some lives the store has one configuration of its model. In others a second store beside it has the other one
// (`LifeRun+Both`): apps open both, save to both and migrate both, and everything else happens to each of them. A mirror follows the store for a while: the second store
// must be what a migration of the first is. In other lives SwiftData's API is a face too: classes that take their
// properties from the models (`DynamicModels`), and a plan that migrates. The command line does some of the verbs
// (`CommandFace`): its words, the models in files, its document and its exit code say what the library's call says.
// A second app keeps changes in a context while others save: what they have saved is merged or reported as a conflict,
// and never overwritten.
//
// Not simulated: SwiftData's hierarchies and value types; a plan's code; attributes derived from `now()`; memory that
// runs out outside SQLite; two programs inside one SQLite call; conflicts where only the rows that hold links tell.
// `CoreDataProgram` and `SwiftDataProgram` use the machine's own files beside the store.

/// One line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Lives, one after another.
struct Simulation {
    let options: SimulationOptions
    private let folder: String
    private let ledger: LifeLedger?
    /// The first and the last seed that was lived.
    private var lived: ClosedRange<UInt64>?
    private(set) var lives = 0
    private(set) var steps = 0
    private(set) var failures = 0
    private(set) var tally: [String: Int] = [:]

    init(_ options: SimulationOptions) throws {
        self.options = options
        let system = POSIXSystem()
        // The path is the same for each life, and as long in each process, in case its length matters.
        let process = String(format: "%010d", getpid())
        folder = "\(try system.resolve(system.temporaryFolder))/moult-simulate-\(process)"
        ledger = try options.ledger.map {
            try LifeLedger($0, commit: options.commit, options.profile, steps: options.steps)
        }
    }

    /// - Returns: whether every life held.
    mutating func run() throws -> Bool {
        defer { _ = try? POSIXSystem().removeTree(folder) }
        let begun = Date()
        for path in options.replays { replay(path) }
        if options.replays.isEmpty || options.seeds != nil || options.minutes != nil {
            var seed = (options.seeds?.lowerBound ?? options.first) + options.stripe.number - 1
            let last = options.seeds?.upperBound ?? .max
            let seconds = options.minutes.map { $0 * 60 } ?? .infinity
            while seed <= last, Date().timeIntervalSince(begun) < seconds {
                if ledger?.has(seed) != true { try live(seed) }
                if failures >= options.mostFailures { break }
                seed += options.stripe.count
            }
        }
        let time = Date().timeIntervalSince(begun)
        for (what, count) in tally.sorted(by: { $0.key < $1.key })
        where options.isTracing || what.hasPrefix("beyond ") {
            say("  \(count) × \(what)")
        }
        let seeds = lived.map { "seeds \($0.lowerBound)-\($0.upperBound), " } ?? ""
        say("simulate: \(seeds)\(lives) lives, \(steps) steps in \(Int(time)) s, \(failures) failing")
        return failures == 0
    }

    private mutating func replay(_ path: String) {
        do {
            let life = try Life(contentsOf: path)
            let (failure, digest, _) = live(life)
            say("\(Path.name(of: path)): \(failure.map { "FAILS: \($0)" } ?? "holds"), \(digest.prefix(16))")
        } catch {
            failures += 1
            say("\(path): \(error)")
        }
    }

    /// Lives a life that is known.
    private mutating func live(_ life: Life) -> (LifeFailure?, String, Life) {
        var schedule: LifeSchedule?
        return live(life, &schedule, count: life.steps.count)
    }

    private mutating func live(_ seed: UInt64) throws {
        let start = try LifeSchedule.life(seed: seed, options.profile, plant: options.plant)
        var schedule: LifeSchedule? = LifeSchedule(start)
        lived = (lived?.lowerBound ?? seed)...seed
        let (failure, digest, life) = live(start, &schedule, count: options.steps)
        if let failure {
            say("seed \(seed) FAILS at \(failure)")
            if let step = life.steps.last { say("  \("\(step)".prefix(300))") }
            if options.shrinks > 0 { try keep(life, failure) }
        } else {
            say("seed \(seed): \(life.steps.count) steps hold, \(digest.prefix(16))")
        }
        try ledger?.add(seed, steps: life.steps.count, holds: failure == nil)
    }

    private mutating func live(_ known: Life, _ schedule: inout LifeSchedule?, count: Int) -> (
        LifeFailure?, String, Life
    ) {
        lives += 1
        let (failure, digest, life, made) = Self.live(known, &schedule, count: count, in: folder, options.isTracing)
        steps += life.steps.count
        tally.merge(made) { $0 + $1 }
        if failure != nil { failures += 1 }
        return (failure, digest, life)
    }

    private static func live(
        _ known: Life, _ schedule: inout LifeSchedule?, count: Int, in folder: String, _ isTracing: Bool
    ) -> (LifeFailure?, String, Life, [String: Int]) {
        var life = known
        do {
            try POSIXSystem().removeTree(folder)
            let run = try LifeRun(known, in: folder)
            defer { run.end() }
            do {
                for number in 0..<count {
                    let step = schedule?.step(run) ?? known.steps[number]
                    if schedule != nil { life.steps.append(step) }
                    try run.run(step)
                    if isTracing, let line = run.trace.last { say("  \(line)") }
                }
                return (nil, run.digest, life, run.tally)
            } catch let failure as LifeFailure {
                return (failure, run.digest, life, run.tally)
            }
        } catch {
            let failure = error as? LifeFailure ?? LifeFailure(kind: "the simulator", words: "\(error)")
            return (failure, "", life, [:])
        }
    }

    /// Cuts a life down and writes it to a file.
    private func keep(_ life: Life, _ failure: LifeFailure) throws {
        let folder = folder
        var shrinker = LifeShrinker(life, failure, seconds: options.shrinks) { smaller in
            var schedule: LifeSchedule?
            return Self.live(smaller, &schedule, count: smaller.steps.count, in: folder, false).0
        }
        var smallest = shrinker.shrunk()
        var schedule: LifeSchedule?
        let last = Self.live(smallest, &schedule, count: smallest.steps.count, in: folder, false).0 ?? failure
        smallest.found = "\(last)"
        let word = last.kind.map { $0.isLetter ? $0 : "-" }
        let path = "\(options.keeps)/\(String(word))-\(life.seed).json"
        try FileManager.default.createDirectory(atPath: options.keeps, withIntermediateDirectories: true)
        try Data(smallest.text.utf8).write(to: URL(fileURLWithPath: path))
        say("  smallest: \(smallest.steps.count) steps, \(smallest.models.count) versions: \(last)")
        say("  \(path)")
    }
}
