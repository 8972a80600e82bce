import Moult
import MoultBasics
import MoultTools

/// The command line as a library. Plain `moult` is one call of ``main(_:arguments:)``; an app's own tool is one call
/// that also passes the app's code.
public enum MoultCommand {
    package static let version = MoultVersion.number

    /// Runs a command line and exits the process with its exit code.
    ///
    /// - Parameters:
    ///   - registry: the app's code, which only the app's own tool has; empty for plain `moult`.
    ///   - arguments: the arguments without the program's name.
    public static func main(
        _ registry: MigrationRegistry, arguments: [String] = Array(CommandLine.arguments.dropFirst())
    ) async -> Never {
        // A closed pipe must not end a migration halfway.
        signal(SIGPIPE, SIG_IGN)
        keepStandardStreams()
        Connection.keepNoMemoryStatistics()
        let number = await onLargeStack { await run(registry, arguments: arguments) }
        if number == ExitCode.unread.number {
            // The work is done, so the process now ends like any other whose reader is gone.
            signal(SIGPIPE, SIG_DFL)
            kill(getpid(), SIGPIPE)
        }
        exit(number)
    }

    /// Runs a command line without an app's code, and exits the process.
    public static func main(arguments: [String] = Array(CommandLine.arguments.dropFirst())) async -> Never {
        await main(MigrationRegistry(), arguments: arguments)
    }

    /// Runs work on a thread with a stack of known size, whatever the system's default is.
    private static func onLargeStack(_ work: @escaping @Sendable () async -> Int32) async -> Int32 {
        var thread: JoinedThread?
        let number = await withCheckedContinuation { (continuation: CheckedContinuation<Int32?, Never>) in
            thread = JoinedThread.start {
                continuation.resume(returning: try? BlockingTask.run { await work() })
            }
            if thread == nil { continuation.resume(returning: nil) }
        }
        // The process must not exit while the thread still frees what the work has left.
        thread?.wait()
        if let number { return number }
        return await work()
    }

    /// Opens /dev/null in place of closed standard streams. Otherwise the next opened file would get the stream's
    /// number, and with it the printed output.
    private static func keepStandardStreams() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Runs a command line without an app's code, writing to the standard streams.
    ///
    /// - Returns: the exit code; Documentation/CommandLine.md lists them.
    public static func run(arguments: [String]) async -> Int32 { await run(MigrationRegistry(), arguments: arguments) }

    /// Runs a command line, writing to the standard streams.
    ///
    /// - Parameter registry: the app's code.
    /// - Returns: the exit code; Documentation/CommandLine.md lists them.
    public static func run(_ registry: MigrationRegistry, arguments: [String]) async -> Int32 {
        await run(registry, arguments: arguments, on: CommandMachine())
    }

    /// Runs a command line on a machine that may be simulated.
    package static func run(
        _ registry: MigrationRegistry, arguments: [String], on machine: CommandMachine
    ) async -> Int32 {
        let arguments = Environment.withoutCoreDataArguments(arguments)
        let typed = arguments.prefix { $0 != "--" }
        let console = Console(
            isJSON: typed.contains("--json"), tellsEvents: typed.contains("--events"), output: machine.output,
            errors: machine.errors)
        let (number, hasFailed) = await Remedy.$words.withValue(CommandWords()) {
            await end(of: arguments, registry, machine, console)
        }
        Interruption.end()
        console.flush()
        guard let error = console.outputError else { return number }
        if error != EPIPE {
            let cause = String(cString: strerror(error))
            console.say(
                "\(Program.name): Standard output could not be written (\(cause)). What was printed is not complete. "
                    + "The command's work \(hasFailed ? "failed" : "is done").")
        }
        return hasFailed ? number : error == EPIPE ? ExitCode.unread.number : ExitCode.unwritten.number
    }

    /// Runs a command line, and returns its exit code and whether it ended with an error.
    private static func end(
        of arguments: [String], _ registry: MigrationRegistry, _ machine: CommandMachine, _ console: Console
    ) async -> (number: Int32, hasFailed: Bool) {
        do {
            let isCompiler = CompilerArguments.names.contains(Program.name)
            if isCompiler,
                let help = CompilerArguments.help(arguments, program: Program.name, style: console.output.style)
            {
                console.text(help)
                return (ExitCode.done.number, false)
            }
            let words = isCompiler ? try CompilerArguments.translated(arguments, program: Program.name) : arguments
            return (try await dispatch(words, registry, machine, console).number, false)
        } catch let error as MigrationError {
            return (report(error, console), true)
        } catch is CancellationError {
            let error = MigrationError(
                .cancelled, "The command was cancelled.", remedy: "The store is unchanged. Run the command again.")
            return (report(error, console), true)
        } catch {
            let error = MigrationError(
                .internal, "Moult failed in an unknown way.", remedy: "Please report this.",
                cause: String(describing: error))
            return (report(error, console), true)
        }
    }

    private static func dispatch(
        _ arguments: [String], _ registry: MigrationRegistry, _ machine: CommandMachine, _ console: Console
    ) async throws -> ExitCode {
        guard let first = arguments.first else {
            console.text(VerbGroup.overview(style: console.output.style))
            return .wrongUsage
        }
        switch first {
        case "--version", "-V", "version":
            let commit =
                MoultVersion.commit ?? (try? POSIXSystem.ownProgram()).flatMap { MoultVersion.commit(ofProgram: $0) }
            let sqlite = Connection.version
            return console.print([
                "format": 1, "version": .string(version), "commit": JSONValue(commit), "sqlite": .string(sqlite),
            ]) { _ in
                ["\(Program.name) \(version)\(commit.map { " (\($0))" } ?? ""), SQLite \(sqlite)"]
            }
        case "--help", "-h", "help":
            return try help(of: Array(arguments.dropFirst()), console)
        case NameCompletion.verb:
            return NameCompletion.run(Array(arguments.dropFirst()), registry, console)
        default:
            let (verb, path, rest) = try find(translated(arguments, console))
            if verb.isGroup {
                console.text(verb.help(path: path, style: console.output.style))
                return rest.contains("--help") || rest.contains("-h") ? .done : .wrongUsage
            }
            let invocation = try Invocation(verb, path: path, arguments: rest, registry: registry, on: machine)
            if invocation[.help] {
                console.text(verb.help(path: path, style: console.output.style))
                return .done
            }
            invocation.notices.forEach(console.say)
            if let store = invocation[Operand.store], let sidecar = try? StoreRecords(of: store, machine.system) {
                Interruption.mark(at: sidecar.stopped)
            }
            do {
                return try await ProgressDisplay.metering(console) {
                    try await CommandWords(invocation).speakingAsync {
                        guard verb.options.contains(.printed), let path = invocation.newFile(.printed) else {
                            return try await verb.run(invocation, console)
                        }
                        let store = invocation.storeThatIsRead
                        return try await PrintedFile(path, like: store, on: machine.system).write(like: console) {
                            try await verb.run(invocation, $0)
                        }
                    }
                }
            } catch var error as MigrationError {
                if error.remedy == MigrationError.wrongRequestRemedy { error.advice = invocation.wrong("").advice }
                throw invocation[Operand.store].map { error.naming(store: $0) } ?? error
            }
        }
    }

    private static func help(of words: [String], _ console: Console) throws -> ExitCode {
        let style = console.output.style
        if words.isEmpty {
            console.text(VerbGroup.overview(style: style))
        } else if ["--all", "all"].contains(words[0]) {
            console.text(VerbGroup.everything(style: style))
        } else if let group = VerbGroup.named(words[0]) {
            console.text(group.help(style: style))
        } else {
            let meant = Verb.all.contains { $0.name == words[0] } ? nil : Verb.command(for: words[0])
            let (verb, path, _) = try find(meant.map { $0.split(separator: " ").map(String.init) } ?? words)
            if let meant { console.text(["\(words[0].printable) is \(Program.name) \(meant).", ""]) }
            console.text(verb.help(path: path, style: style))
        }
        return .done
    }

    /// Returns the arguments with the verb in place of a word from another tool, if the verb has no effect; says so.
    private static func translated(_ words: [String], _ console: Console) -> [String] {
        guard !isStore(words), !Verb.all.contains(where: { $0.name == words[0] }),
            let verb = Verb.command(for: words[0]), Verb.readingVerbs.contains(verb)
        else { return words }
        console.say("\(words[0].printable) is \(Program.name) \(verb).")
        return [verb] + words.dropFirst()
    }

    /// Returns the place of an export, for a suggestion that works as it is; empty if it has one, or names no store.
    private static func place(ofExport command: String, _ rest: ArraySlice<String>) -> String {
        let isPlaced = rest.contains { word in ["-o", "--out", "--entity"].contains { word.hasPrefix($0) } }
        guard command.hasPrefix("export"), !isPlaced, let store = rest.first(where: { !$0.hasPrefix("-") }) else {
            return ""
        }
        let end = command.hasSuffix("sqlite") ? "-plain.sqlite" : command.hasSuffix("jsonl") ? "-jsonl" : "-csv"
        return " -o " + (Path.stem(of: store) + end).shellQuoted
    }

    /// Returns the verb that the first words name, and the arguments after them.
    private static func find(_ words: [String]) throws -> (verb: Verb, path: String, rest: [String]) {
        if isStore(words) { return (.overview, Verb.overview.name, words) }
        if words[0] == Verb.overview.name { return (.overview, words[0], Array(words.dropFirst())) }
        var verb = try choose(words[0], among: Verb.all, under: "", with: words.dropFirst())
        var path = verb.name
        var rest = words.dropFirst()
        while !verb.subverbs.isEmpty, let next = rest.first, !next.hasPrefix("-") {
            guard verb.isGroup || verb.subverbs.contains(where: { $0.name == next }) else { break }
            verb = try choose(next, among: verb.subverbs, under: path + " ", with: rest.dropFirst())
            path += " " + verb.name
            rest = rest.dropFirst()
        }
        return (verb, path, Array(rest))
    }

    /// Whether a path stands where a verb would. A verb is never taken for a path.
    private static func isStore(_ words: [String]) -> Bool {
        func exists(_ path: String) -> Bool {
            (try? POSIXSystem().exists(path)) ?? false || (try? POSIXSystem().isLink(path)) ?? false
        }
        let word = words[0]
        // Options may come first, as in moult --json app.sqlite.
        if word.hasPrefix("-") { return words.contains { !$0.hasPrefix("-") && exists($0) } }
        guard !Verb.all.contains(where: { $0.name == word }) else { return false }
        return word.contains("/") || word.dropFirst().contains(".") || exists(word)
    }

    private static func choose(
        _ word: String, among verbs: [Verb], under path: String, with rest: ArraySlice<String>
    ) throws -> Verb {
        if let verb = verbs.first(where: { $0.name == word }) { return verb }
        let command = path.isEmpty ? Verb.command(for: word) : nil
        let near = command ?? Suggestion.nearest(to: word, among: verbs.map(\.name))
        var remedy = ""
        if let group = path.isEmpty ? VerbGroup.named(word) : nil, command == nil {
            remedy = "It is a group of verbs: `\(Program.name) help \(group.name)` lists them."
        } else if let near {
            let typed =
                ([Program.name, path + near] + rest.map(\.shellQuoted)).joined(separator: " ")
                + place(ofExport: near, rest)
            remedy = "Did you mean `\(typed)`? See `\(Program.name) \(path)--help`."
        } else {
            remedy = "See `\(Program.name) \(path)--help`."
        }
        let isOption = path.isEmpty && word.hasPrefix("-")
        if isOption, let near = Suggestion.nearest(to: word, among: ["--version", "--help"]) {
            remedy = "Did you mean `\(Program.name) \(near)`?"
        }
        let kind = isOption ? "option" : "verb"
        throw MigrationError(.usage, "\(Program.name) \(path)has no \(kind) \(word).", remedy: Remedy(remedy))
    }

    private static func report(_ error: MigrationError, _ console: Console) -> Int32 {
        var error = error
        if error.code == .codeMissing {
            error.advice += "\(permit: .code(error.place.isEmpty ? "the code" : error.place))"
        }
        if console.isJSON {
            console.line(error.document.compact)
        } else {
            console.say(error)
        }
        return error.exitCode
    }
}
