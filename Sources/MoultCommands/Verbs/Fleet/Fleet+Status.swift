import MoultTools

extension Verb {
    static let fleetStatus = Verb(
        "status", "Show the state of a fleet: counts, speed, time left, failures by cause and what to do next.",
        discussion: """
            Reads the results of all shards, even while runs write them. --html also writes an HTML page that needs no
            other file. With --check, the exit code is 1 if a store failed; with --tolerate, if more than this part of
            the finished stores failed.
            """,
        operands: [manifest], options: [results, verb, html, .checking("a store failed"), tolerated],
        examples: ["moult fleet status fleet.jsonl", "moult fleet status fleet.jsonl --html fleet.html --json"]
    ) { invocation, console in
        let path = try invocation.required(manifest)
        let name = invocation[value: verb] ?? "migrate"
        let status = try FleetStatus(manifest: path, results: invocation[value: results], of: name)
        try invocation[value: html].map(status.write)
        console.print(status.document) { status.lines(path, style: $0) }
        let tolerance = try invocation.share(tolerated) ?? 0
        return (invocation[.check] || invocation[value: tolerated] != nil) && status.failureShare > tolerance
            ? .findings : .done
    }

    private static let verb = Option.value("verb", "VERB", "The verb of the run; by default migrate.")
    private static let html = Option.value("html", "FILE", "Also write an HTML page.", completes: .files)
    private static let tolerated = Option.value(
        "tolerate", "PERCENT", "Exit with 1 only if more than this part of the finished stores failed.")
}
