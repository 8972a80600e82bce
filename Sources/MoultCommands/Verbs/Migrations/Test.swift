import Moult
import MoultBasics
import MoultTools

extension Verb {
    static let test = Verb(
        "test", "Test a migration on a copy with injected faults, or by killing it; the store is unchanged.",
        discussion: """
            With --crash the migration runs repeatedly on a copy, each time with one fault: the process dies, the power
            fails and writes that were not synchronised to the disk are lost, a write is torn, the disk fails or is
            full, SQLite runs out of memory, or the clock jumps. With --kill it runs in a process that is really killed.
            After each fault, the rows must be those of the old store or of the new one. The store must recover, and
            become the new one when the migration runs again. Its backups must be sound. Exits with 1 if one of these
            does not hold.

            In an app's own tool, the app's migration code runs in every trial. So does whatever that code does outside
            the store, such as sending a request. The code may read the clock and make identifiers: if two undisturbed
            runs leave different values in a column, only whether a row has a value is compared for that column, and the
            report names it.
            """,
        operands: [.store],
        options: [
            crash, kill, seconds, .model, .target, .answers, .mapping, .cloudKit, .experimental, .order, .rules, .fix,
            .allowLargeQuarantine, .acceptLosses,
        ],
        examples: [
            "moult test --crash forum.sqlite --model Forum.xcdatamodeld --seconds 2",
            "moult test --kill 3 forum.sqlite --model Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let kills = try invocation.number(Verb.kill, atLeast: 1)
        guard invocation[Verb.crash] || kills != nil else {
            throw invocation.wrong("\(Program.name) test needs --crash, or --kill and a number of kills.")
        }
        let seconds = try invocation.number(Verb.seconds, atLeast: 1).map { Double($0) } ?? 60
        var isKept = true
        // Test crashes first, before SQLite is used, so that its allocations can be made to fail.
        if invocation[Verb.crash] { isKept = try testCrashes(invocation, seconds, console) }
        if let kills, try !testKills(invocation, kills, console) { isKept = false }
        return isKept ? .done : .findings
    }

    private static let crash = Option.flag("crash", "Try every kind of fault, at as many moments as there is time for.")
    private static let kill = Option.value("kill", "N", "Kill this many processes, each at a different moment.")
    private static let seconds = Option.value("seconds", "S", "The time for --crash in seconds; default 60.")

    /// - Returns: whether every promise was kept.
    private static func testCrashes(_ invocation: Invocation, _ seconds: Double, _ console: Console) throws -> Bool {
        var request = try invocation.request(.migrate)
        request.options.patience = .zero
        var context = try invocation.project(console).context(for: request.store)
        // Only a copy is migrated, so no data can be lost.
        context.losses = .asTheVersionsSay()
        context.isSequential = true
        let test = CrashTest(of: request.store) { [request, context] store, system in
            var request = request
            request.store = store
            _ = try StoreSession(request, context, on: system).run()
        }
        let matrix = try test.run(
            seconds: seconds, isWanted: { [isStopped = Interruption.heard] in !isStopped() },
            report: { console.say("\($0.fault): \($0.tried) of \($0.moments) tried") })
        console.print(matrix.document) { matrix.lines(style: $0) }
        return matrix.broken.isEmpty
    }

    private static func testKills(_ invocation: Invocation, _ kills: Int, _ console: Console) throws -> Bool {
        let program = try POSIXSystem.ownProgram()
        let passed = invocation.arguments(of: [
            .model, .target, .answers, .mapping, .cloudKit, .experimental, .order, .rules, .fix, .allowLargeQuarantine,
            .config,
        ])
        let test = KillTest(of: try invocation.required(Operand.store), program: program) {
            // Only a copy is migrated, so no data can be lost.
            ["migrate", $0, "--accept-losses"] + passed
        }
        let tally = try test.run(kills: kills, isWanted: { [isStopped = Interruption.heard] in !isStopped() })
        console.print(tally.document) { _ in tally.lines }
        return tally.broken.isEmpty
    }
}

extension Invocation {
    /// Returns the options that were given, as typed; a new process finds the configured ones by itself.
    fileprivate func arguments(of options: [Option]) -> [String] {
        options.filter { !isConfigured($0) }.flatMap { option -> [String] in
            guard option.value != nil else { return self[option] ? ["--\(option.name)"] : [] }
            return all(option).flatMap { ["--\(option.name)", $0] }
        }
    }
}

extension FaultMatrix {
    fileprivate var document: JSONValue {
        [
            "format": 1, "tried": .integer(Int64(tried)), "broken": JSONValue(broken),
            "changing": JSONValue(changing.sorted().map(\.place)),
            "faults": .array(
                rows.map { row -> JSONValue in
                    [
                        "fault": .string(row.fault), "moments": .integer(Int64(row.moments)),
                        "tried": .integer(Int64(row.tried)), "old": .integer(Int64(row.old)),
                        "new": .integer(Int64(row.new)), "broken": .integer(Int64(row.broken.count)),
                    ]
                }),
        ]
    }

    fileprivate func lines(style: TextStyle) -> [String] {
        var table = TextTable([
            .left("fault"), .right("moments"), .right("tried"), .right("old store"), .right("new store"),
            .right("broken"),
        ])
        for row in rows {
            let numbers = [row.moments, row.tried, row.old, row.new, row.broken.count].map { Quantity.count($0) }
            table.add(row.fault, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        }
        let end =
            broken.isEmpty
            ? "After each of \(Quantity.count(tried, "fault")) the store was the old one or the new one, and sound."
            : "\(Quantity.count(broken.count, "guarantee")) broken; please report this."
        return table.lines(style: style) + [ChangingColumn.sentence(changing)].compactMap { $0 } + broken + [end]
    }
}

extension KillTest.Tally {
    fileprivate var document: JSONValue {
        [
            "format": 1, "killed": .integer(Int64(killed)), "ended": .integer(Int64(ended)),
            "old": .integer(Int64(old)), "new": .integer(Int64(new)), "broken": JSONValue(broken),
            "changing": JSONValue(changing.sorted().map(\.place)),
        ]
    }

    fileprivate var lines: [String] {
        [ChangingColumn.sentence(changing)].compactMap { $0 } + broken + [
            "\(Quantity.count(killed, "process", plural: "processes")) killed, \(ended) had ended before: the store was the old one "
                + "\(Quantity.count(old, "time")), the new one \(Quantity.count(new, "time")), broken "
                + "\(Quantity.count(broken.count, "time"))."
        ]
    }
}

extension Verb {
    static let parity = Verb(
        "parity", "Print the results of a comparison with Apple's frameworks on a Mac, as a table.",
        discussion: """
            REPORT is the file that moult-parity writes on a Mac; it is the program of the package in the folder Parity
            of Moult's sources. The table is Markdown. Exits with 1 if something differs.
            """,
        operands: [report], examples: ["moult parity parity.json"]
    ) { invocation, console in
        let path = try invocation.required(report)
        let found = try ParityReport(invocation.system.read(path, limit: 64 << 20, as: .usage), place: path)
        console.print(found.document) { _ in found.lines }
        return found.isEqual ? .done : .findings
    }

    private static let report = Operand("REPORT", "The JSON file that moult-parity has written.")
}
