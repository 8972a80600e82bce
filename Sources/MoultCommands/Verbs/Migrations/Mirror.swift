import Moult
import MoultBasics
import MoultCare

extension Verb {
    static let mirror = Verb(
        "mirror", "Keep a second store, of another version, up to date with a store that is in use.",
        discussion: """
            The second store is made by a migration of the first. Each sync then copies what apps wrote to the first
            store: from persistent history if it is on, otherwise by a scan of keys and lock counters. cutover reverses
            the direction: apps write to the second store, and the first follows. cutover --undo reverses it again, and
            keeps what was written since.
            """,
        subverbs: [startMirror, syncMirror, mirrorStatus, verifyMirror, cutOverMirror, stopMirror])

    private static let startMirror = Verb(
        "start", "Make the second store by a migration to another version; from then on it follows the first.",
        discussion: """
            The store is only read, and may be in use. As with moult migrate, a loss of objects, values or links has to
            be declared.
            """,
        operands: [.store], options: mirrorInput + [place, .events],
        examples: ["moult mirror start forum.sqlite --model Forum.xcdatamodeld --at forum-new.sqlite"]
    ) { invocation, console in
        try invocation.requireModel()
        let request = try invocation.request(.migrateInto(try invocation.required(place)))
        let mirror = try MirroredStore.start(
            request, invocation.project(console).context(for: request.store), on: invocation.system,
            isCancelled: Interruption.heard)
        console.say(mirror.warnings)
        return console.print(mirror.record.document) { _ in
            [
                "\(mirror.record.second.printable) is of \(mirror.record.to.printable) and follows "
                    + "\(mirror.store.printable)."
            ]
        }
    }

    private static let syncMirror = Verb(
        "sync", "Copy what was written since the last sync.",
        discussion: """
            Both stores may be in use. With --all, every row is compared, whatever history and counters say. --overwrite
            does this too, and discards what another program has written to the store that follows.
            """,
        operands: [.store], options: laterInput + [movedTo, compares, overwrites, .events],
        examples: ["moult mirror sync forum.sqlite"]
    ) { invocation, console in
        var mirror = try invocation.mirror(console)
        if let path = invocation[value: place] { try mirror.moveSecond(to: path) }
        let outcome = try mirror.synchronise(all: invocation[compares], overwriting: invocation[overwrites])
        return console.print(outcome.document) { _ in outcome.lines }
    }

    private static let mirrorStatus = Verb(
        "status", "Show how far the store that follows is behind.",
        discussion: "With --check the exit code is 1 if it is behind.", operands: [.store],
        options: laterInput + [check], examples: ["moult mirror status forum.sqlite"]
    ) { invocation, console in
        let status = try invocation.mirror(console).status()
        console.print(status.document) { _ in status.lines }
        return invocation[check] && status.isBehind ? .findings : .done
    }

    private static let verifyMirror = Verb(
        "verify", "Check that the store that follows equals the result of a new migration.",
        discussion: """
            The store that follows is brought up to date. Then the other store is migrated again, and every value of
            every row is compared in both directions. Exits with 1 if anything differs; nothing is corrected.
            """,
        operands: [.store], options: laterInput + [.events], examples: ["moult mirror verify forum.sqlite"]
    ) { invocation, console in
        let found = try invocation.mirror(console).verify()
        console.print(found.document) { _ in found.lines }
        return found.isEqual ? .done : .findings
    }

    private static let cutOverMirror = Verb(
        "cutover", "Switch to the second store: apps write to it, and the first follows.",
        discussion: """
            No app may have the first store open. The two stores are compared first. If data that apps write to the
            second store would have no place in the first, undoing the cut-over would lose it. Such a cut-over is
            refused with a list, unless you give --accept-losses. --undo switches back to the first store, and keeps
            what was written to the second since; then no app may have the second store open.
            """,
        operands: [.store], options: laterInput + [undo, accepts, .events],
        examples: ["moult mirror cutover forum.sqlite --accept-losses"]
    ) { invocation, console in
        var mirror = try invocation.mirror(console)
        if invocation[undo] {
            try mirror.undoCutOver()
            return console.print(mirror.record.document) { _ in
                ["Apps write to \(mirror.store.printable) again; nothing was lost."]
            }
        }
        let losses = try mirror.cutOver(acceptingLosses: invocation[accepts])
        return console.print(mirror.record.document) { _ in
            ["Apps write to \(mirror.record.second.printable) from now on."]
                + (mirror.record.isOneWay
                    ? ["The cut-over cannot be undone:"] + losses.map { "  \($0)" }
                    : [
                        String(advice: "\(mirror.store.printable) follows; \(.cutOverMirror, .undo) reverses it.")
                    ]
                        + (losses.isEmpty ? [] : ["Undoing it would lose:"] + losses.map { "  \($0)" }))
        }
    }

    private static let stopMirror = Verb(
        "stop", "End the mirror; both stores are kept.", operands: [.store], options: [],
        examples: ["moult mirror stop forum.sqlite"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let (path, record) = try MirroredStore.record(of: store, invocation.system, isStarting: true)
        try MirroredStore.stop(store, system: invocation.system)
        return console.print(record.document) { _ in
            [
                record.state == .starting
                    ? "Removed the files of a start of the mirror that died."
                    : "\(path.printable) and \(record.second.printable) no longer follow each other."
            ]
        }
    }

    fileprivate static let mirrorInput: [Option] = [
        .model, .target, .answers, .mapping, .cloudKit, .experimental, .acceptLosses, .order,
    ]
    /// The same options for verbs after `start`, which has recorded its options.
    private static let laterInput: [Option] = [
        .value(
            Option.model.name, "PATH", "The model; by default the one that mirror start was given.", completes: .files),
        .value(
            Option.target.name, "VERSION",
            "The version of the second store; by default the one that mirror start was given."),
        .value(
            Option.answers.name, "FILE",
            "The file in which moult answer records answers about the model, such as renames; by default the one that "
                + "mirror start was given.",
            completes: .files),
        .value(
            Option.mapping.name, "PATH",
            "The mapping model, or a folder of them; by default what mirror start was given.", completes: .files),
        .experimental, .order,
    ]
    private static let place = Option.value(
        "at", "PATH", "The path of the second store; nothing may exist there.", completes: .files)
    private static let movedTo = Option.value(
        place.name, "PATH", "The new path of the second store, if it was moved.", completes: .files)
    private static let compares = Option.flag("all", "Compare every row.")
    private static let overwrites = Option.flag(
        "overwrite", "Discard what another program has written to the store that follows.")
    private static let check = Option.flag("check", "Exit with 1 if the store that follows is behind.")
    private static let undo = Option.flag("undo", "Undo the cut-over.")
    private static let accepts = Option.flag(
        "accept-losses", "Cut over even if undoing it would lose some of what is written afterwards.")
}

extension Invocation {
    /// Returns the mirror of the store, with the model named here, or else the one that the mirror was started with.
    fileprivate func mirror(_ console: Console) throws -> MirroredStore {
        let store = try required(Operand.store)
        let begun = try MirroredStore.record(of: store, system).record.request
        var whole = self
        if let models = begun.models {
            whole.give(models.path, for: Option.model)
            if let order = models.order { whole.give(order.joined(separator: ","), for: .order) }
            if let answers = models.answers, self[value: .answers] == nil {
                // Without these answers, the mapping would be a different one.
                _ = try system.read(answers)
                whole.give(answers, for: .answers)
            }
            whole.settle(.mapping, models.mappings)
        }
        let project = try whole.project(console)
        return try MirroredStore(
            of: store, project.context(for: store), runOptions(), on: system, isCancelled: Interruption.heard)
    }
}
