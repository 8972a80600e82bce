import MoultEngine
import MoultModel
import MoultStore
import MoultSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A person's own migration in a process that is killed with SIGKILL, at moments spread over the whole of it.
package struct KillTest: Sendable {
    /// What became of the store after so many kills.
    package struct Tally: Sendable, Hashable {
        /// Processes that were killed, and those that had ended by then.
        package var (killed, ended) = (0, 0)
        /// The store was the old one, or the new one.
        package var (old, new) = (0, 0)
        package var broken: [String] = []
    }

    private struct Broken: Error { let words: String }

    private let store: String
    private let program: String
    private let arguments: @Sendable (_ copy: String) -> [String]
    private let system = POSIXSystem()

    /// - Parameters:
    ///   - program: the path of the program that migrates.
    ///   - arguments: what it is told to migrate the copy.
    package init(of store: String, program: String, arguments: @escaping @Sendable (_ copy: String) -> [String]) {
        self.store = store
        self.program = program
        self.arguments = arguments
    }

    /// - Throws: `migrationFailed` where the undisturbed program does not end well.
    package func run(
        kills: Int, scratch: String? = nil, isWanted: () -> Bool = { true }, report: (Tally) -> Void = { _ in }
    ) throws -> Tally {
        let folder = Path.join(scratch ?? system.temporaryFolder, "moult-test-\(system.uniqueName())")
        try system.makeFolder(folder)
        defer { _ = try? system.removeTree(folder) }
        let field = Path.join(try system.resolve(folder), "field")
        let copy = Path.join(field, Path.name(of: store))
        let old = try reset(copy, folder)
        let start = system.monotonicNanoseconds
        try finish(copy)
        let whole = system.seconds(since: start)
        let new = try LogicalState(of: copy, scratch: folder + "/look")
        var tally = Tally()
        for kill in 0..<kills where isWanted() {
            // The golden section visits every part of the run early.
            let part = (Double(kill) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
            do {
                try killOnce(copy, folder, after: part * whole * 1.05, old, new, &tally)
            } catch let broken as Broken {
                tally.broken.append("Kill \(kill + 1), after \(Int(part * 100)) % of a run: \(broken.words)")
            }
            report(tally)
        }
        return tally
    }

    /// A fresh copy, and what it says.
    private func reset(_ copy: String, _ folder: String) throws -> LogicalState {
        try system.removeTree(Path.folder(of: copy))
        try system.makeFolder(Path.folder(of: copy))
        try StoreCopy.make(of: store, at: copy)
        return try LogicalState(of: copy, scratch: folder + "/look")
    }

    private func finish(_ copy: String) throws {
        let status = try ChildProgram(program, arguments(copy)).wait()
        guard status == 0 else {
            throw MigrationError(
                .migrationFailed, "The program ended with \(status).", place: store,
                remedy: "See what it says: \(([program] + arguments(store)).joined(separator: " "))")
        }
    }

    private func killOnce(
        _ copy: String, _ folder: String, after seconds: Double, _ old: LogicalState, _ new: LogicalState,
        _ tally: inout Tally
    ) throws {
        _ = try reset(copy, folder)
        let child = try ChildProgram(program, arguments(copy))
        usleep(UInt32(min(seconds * 1e6, 4e9)))
        if child.kill() { tally.killed += 1 } else { tally.ended += 1 }
        let left = try LogicalState(of: copy, scratch: folder + "/look")
        guard left.rows == old.rows || left.rows == new.rows else {
            throw Broken(words: "the store is neither old nor new")
        }
        if left.rows == old.rows { tally.old += 1 } else { tally.new += 1 }
        do {
            _ = try Migrator().recover(copy)
            guard try LogicalState(of: copy, scratch: folder + "/look").rows == left.rows else {
                throw Broken(words: "the recovery changes the store")
            }
            try finish(copy)
        } catch let error as MigrationError {
            throw Broken(words: error.message)
        }
        let end = try LogicalState(of: copy, scratch: folder + "/look")
        guard end.rows == new.rows else { throw Broken(words: "the next run does not make the new store") }
    }
}
