import MoultEngine
import MoultFleet
import MoultModel
import MoultReport
import MoultSystem

extension FleetStatus {
    /// Reads the results of a run.
    ///
    /// - Parameters:
    ///   - folder: the results folder; nil for the one next to the manifest.
    ///   - name: the verb of the run, as it is typed.
    package init(manifest path: String, results folder: String?, of name: String) throws {
        let results = ResultsFolder(
            folder ?? ResultsFolder.path(of: path, verb: name == "backup" ? "backup create" : name))
        try self.init(manifest: path, results: results, verb: name)
    }

    /// Writes the page.
    package func write(to path: String) throws {
        let system = POSIXSystem()
        try UnfinishedPath.replace([(path, Array(page(at: system.now).utf8))], .own, system)
    }
}

extension FleetStatus {
    package var document: JSONValue {
        [
            "format": 1, "fleet": .string(manifest.fleet), "verb": .string(verb), "to": .string(manifest.target),
            "stores": JSONValue(stores), "finished": JSONValue(finished), "failures": JSONValue(failures),
            "counts": JSONValue(
                sorted: Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, JSONValue($0.value)) })),
            "waiting": JSONValue(waiting), "running": JSONValue(running),
            "leftOut": JSONValue(
                sorted: Dictionary(uniqueKeysWithValues: leftOut.map { ($0.key.rawValue, JSONValue($0.value)) })),
            "doneBefore": JSONValue(doneBefore), "rows": .integer(rows), "largestMemory": .integer(largestMemory),
            "storesASecond": throughput.map(JSONValue.double) ?? .null,
            "secondsLeft": timeLeft.map(JSONValue.double) ?? .null,
            "causes": .array(
                causes.map { cause in
                    [
                        "state": .string(cause.state.rawValue), "code": .string(cause.code),
                        "count": JSONValue(cause.count), "example": .string(cause.example.path),
                        "message": .string(cause.message), "remedy": .string(cause.remedy.text()),
                    ]
                }),
            "slowest": .array(
                slowest.map {
                    ["path": .string($0.path), "seconds": .double($0.seconds), "memory": .integer($0.memory)]
                }),
            "shards": .array(
                shards.map { shard in
                    [
                        "shard": JSONValue(shard.index), "stores": JSONValue(shard.stores),
                        "finished": JSONValue(shard.finished), "failures": JSONValue(shard.failures),
                        "isRunning": .bool(shard.isRunning), "canary": shard.canary?.json ?? .null,
                    ]
                }),
            "torn": JSONValue(torn),
        ]
    }

    package func lines(_ path: String, style: TextStyle) -> [String] {
        var lines = [
            "\(style.bold("moult \(verb)")): \(Quantity.count(finished)) of \(Quantity.count(stores, "store")) finished, "
                + "\(Quantity.count(failures)) failed."
        ]
        var table = TextTable([.left(""), .right("")])
        for state in FleetResult.State.allCases {
            if let count = counts[state] { table.add("  \(state.rawValue)", Quantity.count(count)) }
        }
        table.add("  waiting", Quantity.count(waiting))
        if running > 0 { table.add("  under way", Quantity.count(running)) }
        for (state, count) in leftOut.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            table.add("  left out: \(state.rawValue)", Quantity.count(count))
        }
        lines += table.lines(style: style)
        if let throughput { lines.append("\(Quantity.decimal(throughput, places: 1)) stores a second.") }
        if waiting > 0, let timeLeft { lines.append("About \(Quantity.duration(timeLeft)) left.") }
        if doneBefore > 0 {
            lines.append(
                "\(Quantity.count(doneBefore, "store was", plural: "stores were")) done by an attempt that died "
                    + "afterwards; none was done twice.")
        }
        for cause in causes {
            lines += [
                "",
                "\(style.red(cause.state.rawValue)) [\(cause.code)] \(Quantity.count(cause.count, "store")): "
                    + cause.message.printableLines,
                "  " + style.dim("for example \(cause.example.path.printable)"),
            ]
            if !cause.remedy.isEmpty { lines.append("  " + style.bold("→") + " " + cause.remedy.text().printableLines) }
        }
        if let slow = slowest.first, slow.seconds > 0 {
            lines += ["", "Slowest: \(slow.path.printable), \(Quantity.duration(slow.seconds))."]
        }
        for file in torn.prefix(10) {
            lines.append("\(style.red("torn")) \(file.printable): the next run finds out what became of the store.")
        }
        let waitingCanaries = shards.filter { [.waiting, .failed].contains($0.canary?.state) }
        if let shard = waitingCanaries.first, let canary = shard.canary {
            lines.append(
                String(
                    advice: """
                        The canary \(canary.state == .failed ? "has failed" : "waits for approval"): \
                        \(.runFleet, .path(path), .approve) lets the other stores follow.
                        """))
        }
        return lines
    }
}
