import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

// An app of the other systems cannot start a program.
#if os(macOS) || os(Linux)
    /// A user's own migration in a process that is killed with SIGKILL, at moments spread over its duration.
    package struct KillTest: Sendable {
        /// The counts of the store's states after a number of kills.
        package struct Tally: Sendable, Hashable {
            /// The processes that were killed, and those that had already ended.
            package var (killed, ended) = (0, 0)
            /// The number of times that the store was the old one, and the new one.
            package var (old, new) = (0, 0)
            package var broken: [String] = []
            /// The columns that an app's code fills anew in each run, and that were not compared.
            package var changing: Set<ChangingColumn> = []
        }

        private struct Broken: Error { let words: String }

        private let store: String
        private let program: String
        private let arguments: @Sendable (_ copy: String) -> [String]
        private let system = POSIXSystem()

        /// - Parameters:
        ///   - program: the path of the program that runs the migration.
        ///   - arguments: returns the arguments with which it migrates the copy.
        package init(of store: String, program: String, arguments: @escaping @Sendable (_ copy: String) -> [String]) {
            (self.store, self.program, self.arguments) = (store, program, arguments)
        }

        private func start(_ copy: String) throws -> ChildProgram {
            // A path, so that PATH is not searched.
            let path = program.contains("/") ? program : "./" + program
            guard let child = try ChildProgram(path, arguments(copy)) else {
                throw MigrationError.system("start", program, error: ENOENT)
            }
            return child
        }

        /// - Throws: `migrationFailed` if the undisturbed program fails.
        package func run(
            kills: Int, scratch: String? = nil, isWanted: () -> Bool = { true }, report: (Tally) -> Void = { _ in }
        ) throws -> Tally {
            let temporary = try TemporaryFolder("test", in: scratch, system)
            let folder = temporary.path
            defer { temporary.remove() }
            let field = Path.join(try system.resolve(folder), "field")
            let copy = Path.join(field, Path.name(of: store))
            let look = Path.join(folder, "look")
            var tally = Tally()
            var runs: [RunValues] = []
            var whole = 0.0
            for run in 0..<2 {
                try reset(copy)
                // Two runs must also differ in times that an app stores in whole seconds.
                if run > 0 { RunValues.pause() }
                let start = system.monotonicNanoseconds
                try finish(copy)
                whole = system.seconds(since: start)
                runs.append(try RunValues(of: copy, scratch: look))
            }
            tally.changing = ChangingColumn.all(between: runs[0], and: runs[1])
            let state = { [changing = tally.changing] in try LogicalState(of: copy, scratch: look, changing: changing) }
            let new = try state()
            try reset(copy)
            let old = try state()
            for kill in 0..<kills where isWanted() {
                // The golden ratio spreads the kills, so that every part of the run is tried early.
                let part = (Double(kill) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
                do {
                    try killOnce(copy, after: part * whole * 1.05, old, new, &tally, state)
                } catch let broken as Broken {
                    tally.broken.append("Kill \(kill + 1), after \(Int(part * 100)) % of a run: \(broken.words)")
                }
                report(tally)
            }
            return tally
        }

        private func reset(_ copy: String) throws {
            try system.removeTree(Path.folder(of: copy))
            try system.makeFolder(Path.folder(of: copy))
            try StoreCopy.make(of: store, at: copy)
        }

        private func finish(_ copy: String) throws {
            let status = try start(copy).wait()
            guard status == 0 else {
                throw MigrationError(
                    .migrationFailed, "The program ended with \(status).", place: store,
                    remedy: "Run it to see why: \(([program] + arguments(store)).joined(separator: " "))")
            }
        }

        private func killOnce(
            _ copy: String, after seconds: Double, _ old: LogicalState, _ new: LogicalState, _ tally: inout Tally,
            _ state: () throws -> LogicalState
        ) throws {
            try reset(copy)
            let child = try start(copy)
            usleep(UInt32(min(seconds * 1e6, 4e9)))
            if child.kill() { tally.killed += 1 } else { tally.ended += 1 }
            let left = try state()
            guard left.rows == old.rows || left.rows == new.rows else {
                throw Broken(words: "the store is neither old nor new")
            }
            if left.rows == old.rows { tally.old += 1 } else { tally.new += 1 }
            do {
                _ = try Migrator().recover(copy)
                guard try state().rows == left.rows else { throw Broken(words: "the recovery changes the store") }
                try finish(copy)
            } catch let error as MigrationError {
                throw Broken(words: error.message)
            }
            let end = try state()
            guard end.rows == new.rows else {
                let difference = FaultFixture.difference(new.rows, end.rows)
                throw Broken(words: "the next run does not make the new store: \(difference)")
            }
        }
    }
#endif
