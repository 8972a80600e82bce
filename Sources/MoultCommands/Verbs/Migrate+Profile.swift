import MoultModel
import MoultSystem
import MoultTools

extension Option {
    static let profile = value(
        "profile", "FILE",
        "Write a profile of the time to this new file, for Speedscope, Perfetto or Chrome, and print the slowest steps.",
        completes: .files)
}

/// A profile that is written when its run has ended, in whatever way.
struct ProfiledRun {
    private let profile: RunProfile
    private let path: String
    private let store: String
    private let system = POSIXSystem()

    /// Nil without --profile.
    ///
    /// - Throws: `usage` if the path is taken, and for options that make no sense beside it.
    init?(_ invocation: Invocation) throws {
        guard let path = invocation[value: .profile] else { return nil }
        if let other = [Option.budget, .into].first(where: { invocation[value: $0] != nil }) {
            throw invocation.wrong("--profile and --\(other.name) exclude each other.")
        }
        try system.checkNewPath(path)
        self.path = path
        store = try invocation.required(Operand.store)
        profile = RunProfile(begun: system.monotonicNanoseconds)
    }

    /// The observer, whose reports the profile gets too.
    func watching(_ observer: MigrationObserver) -> MigrationObserver {
        var observer = observer
        observer.onProgress = { [profile, system, onProgress = observer.onProgress] progress in
            profile.note(progress, at: system.monotonicNanoseconds)
            onProgress(progress)
        }
        return observer
    }

    /// Writes the profile and prints on standard error what takes longest.
    ///
    /// - Returns: whether the profile is written.
    func end(_ console: Console) -> Bool {
        profile.end(at: system.monotonicNanoseconds)
        for line in profile.lines(style: console.errors.style) { console.say(line) }
        do {
            let part = try UnfinishedPath.begin(path, system)
            defer { _ = try? system.remove(part) }
            try system.write(Array((profile.trace.compact + "\n").utf8), to: part, .like(store))
            try system.synchronise(part)
            try UnfinishedPath.end(part, as: path, system)
            return true
        } catch {
            let reason = (error as? MigrationError)?.message ?? "\(error)"
            console.say("The profile was not written to \(path.printable). \(reason.printable)")
            return false
        }
    }
}
