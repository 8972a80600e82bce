import Moult
import MoultBasics
import MoultEngine

extension FleetStatus {
    /// Reads the results of a run.
    ///
    /// - Parameters:
    ///   - folder: the results folder; nil for the one next to the manifest.
    ///   - name: the verb of the run, as typed.
    package init(manifest path: String, results folder: String?, of name: String) throws {
        let results = ResultsFolder(
            folder ?? ResultsFolder.path(of: path, verb: name == "backup" ? "backup create" : name))
        try self.init(manifest: path, results: results, verb: name)
    }

    /// Writes the status as an HTML page.
    package func write(to path: String) throws {
        let system = POSIXSystem()
        try StagedPath.replace([(path, Array(page(at: system.now).utf8))], .own, system)
    }

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

    /// Returns the status as a self-contained HTML page, without scripts, files or links.
    package func page(at time: Timestamp) -> String {
        let total = max(stores, 1)
        let bars = FleetResult.State.allCases.compactMap { state -> String? in
            guard let count = counts[state], count > 0 else { return nil }
            let part = Quantity.decimal(Double(count) / Double(total) * 100, places: 3)
            return
                "<span class=\"\(state.rawValue)\" style=\"width:\(part)%\" title=\"\(state.rawValue): \(count)\"></span>"
        }
        var numbers = FleetResult.State.allCases.compactMap { state in
            counts[state].map { (state.rawValue, Quantity.count($0)) }
        }
        numbers += [("waiting", Quantity.count(waiting)), ("running", Quantity.count(running))]
        numbers += leftOut.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ("left out: \($0.key.rawValue)", Quantity.count($0.value))
        }
        if let throughput { numbers.append(("stores a second", Quantity.decimal(throughput, places: 1))) }
        if let timeLeft, waiting > 0 { numbers.append(("time left", Quantity.duration(timeLeft))) }
        numbers.append(("rows", Quantity.count(rows)))
        let causeRows = causes.map { cause in
            [
                cause.state.rawValue, cause.code, Quantity.count(cause.count), cause.message, cause.example.path,
                cause.remedy.text(),
            ]
        }
        let slowRows = slowest.map { result in
            [
                result.path, Quantity.duration(result.seconds), result.state.rawValue,
                Quantity.bytes(result.memory), result.host,
            ]
        }
        let shardRows = shards.prefix(1_000).map { shard in
            [
                String(shard.index), Quantity.count(shard.stores), Quantity.count(shard.finished),
                Quantity.count(shard.failures), shard.isRunning ? "running" : "",
                shard.canary.map { "\($0.state.rawValue), \($0.failures) of \($0.stores) failed" } ?? "",
            ]
        }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Fleet \(manifest.fleet.escaped)</title>
            <meta name="viewport" content="width=device-width"><style>\(Self.style)</style></head><body>
            <h1>moult \(verb.escaped), fleet \(manifest.fleet.escaped)</h1>
            <p>\(Quantity.count(finished)) of \(Quantity.count(stores)) stores are finished, \(Quantity.count(failures)) of \
            them failed. To \(manifest.target.escaped). Planned \(manifest.plannedAt.escaped); this page is of \(time.iso8601).</p>
            <div class="bar">\(bars.joined())</div>
            \(Self.table([], numbers.map { [$0.0, $0.1] }))
            <h2>Failures by cause</h2>
            \(Self.table(["state", "cause", "stores", "what", "for example", "next"], causeRows))
            <h2>Slowest</h2>
            \(Self.table(["store", "time", "state", "memory", "host"], slowRows))
            <h2>Shards</h2>
            \(Self.table(["shard", "stores", "finished", "failed", "", "canary"], Array(shardRows)))
            </body></html>

            """
    }

    private static func table(_ titles: [String], _ rows: [[String]]) -> String {
        if rows.isEmpty { return "<p>None.</p>" }
        let head = titles.isEmpty ? "" : "<tr>" + titles.map { "<th>\($0.escaped)</th>" }.joined() + "</tr>"
        let body = rows.map { "<tr>" + $0.map { "<td>\($0.escaped)</td>" }.joined() + "</tr>" }
        return "<table>\(head)\(body.joined(separator: "\n"))</table>"
    }

    private static let style = """
        body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}\
        table{border-collapse:collapse}td,th{text-align:left;padding:.2em .8em .2em 0;vertical-align:top;\
        overflow-wrap:anywhere}tr{border-bottom:1px solid #8883}.bar{display:flex;height:1.2em;background:#8883}\
        .bar span{background:#c33}.bar .done{background:#2a7}.bar .rolledBack{background:#37a}\
        .bar .findings{background:#b80}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}
        """
}

extension String {
    /// The text, escaped for HTML.
    fileprivate var escaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            // Characters that could mislead a reader's eye are spelled out.
            case _ where String(scalar).isControl: text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
