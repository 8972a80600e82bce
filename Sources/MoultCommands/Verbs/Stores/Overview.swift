import Moult
import MoultBasics
import MoultTools

extension Verb {
    /// The screen about a store, for a path in place of a verb. It is not in the list of verbs, because it has no name.
    static let overview = Verb(
        "STORE", "Show one screen about a store: version, entities, plan, what is wrong, and what to do next.",
        discussion: """
            A path in place of a verb gives this screen. Nothing is changed. Without --model, the model in moult.json is
            used, or the one model next to the store or in this folder. Pages and rows are read if the store is small;
            moult doctor reads those of every store. On a terminal, the key b then opens the store in a browser.
            Exits with 0; 1 if something is wrong, 3 if the store is ahead or of no known version, and 4 if it is not a
            Core Data store.
            """,
        operands: [.store], options: [.model, .target, .answers, .backups, .order],
        examples: ["moult forum.sqlite", "moult forum.sqlite --model Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let versions = try invocation.versionsIfKnown(console)
        let context = try versions.map { try invocation.project($0, console).context(for: store) }
        let overview = try StoreOverview(
            of: store, context, ofModelAt: invocation[value: .model], to: invocation[value: .target],
            options: invocation.runOptions())
        console.print(overview)
        if overview.state != nil, try opensPage(console) { return try await openPage(invocation, console) }
        switch overview.state {
        case .ahead, .unknown: return .refused
        case .notCoreData: return .unusable
        case .current, .behind, nil: return overview.isWell ? .done : .findings
        }
    }

    /// Shows the same store in a browser.
    private static func openPage(_ overview: Invocation, _ console: Console) async throws -> ExitCode {
        var arguments = [try overview.required(Operand.store)]
        for option in [Option.model, .answers, .backups, .order, .config] {
            if let value = overview[value: option] { arguments += ["--\(option.name)", value] }
        }
        arguments.append("--open")
        let invocation = try Invocation(browse, path: browse.name, arguments: arguments, registry: overview.registry)
        return try await browse.run(invocation, console)
    }

    /// Waits for a key on a terminal, and returns whether it asks for the page. Ends by itself after 30 seconds.
    private static func opensPage(_ console: Console) throws -> Bool {
        guard console.output.isTerminal, console.errors.isTerminal, Console.isInputTerminal, !console.isJSON,
            Environment.value("CI") == nil, Environment.value("TERM") != "dumb"
        else { return false }
        console.flush()
        let key = TerminalKey.read(within: .seconds(30)) {
            console.sayRaw(console.errors.style.dim("b opens it in a browser; any other key ends. "))
        }
        console.sayRaw("\r\u{1B}[K")
        return key == UInt8(ascii: "b") || key == UInt8(ascii: "B")
    }
}

/// One key, read from the terminal without waiting for the end of the line.
enum TerminalKey {
    /// Returns the key; nil if none is pressed in time, or the terminal is gone.
    ///
    /// - Parameter ask: asks for the key; called once the terminal delivers single keys.
    static func read(within time: Duration, _ ask: () -> Void) -> UInt8? {
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { return nil }
        var raw = former
        // An interrupt is a key too, so that the terminal is always restored.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return nil }
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
        ask()
        var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, Int32(time.seconds * 1000)) == 1 else { return nil }
        var key: UInt8 = 0
        return systemRead(STDIN_FILENO, &key, 1) == 1 ? key : nil
    }
}
