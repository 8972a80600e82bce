import MoultReport

extension Verb {
    /// Every verb, in the order in which help lists them: to look, to decide, to change, to be safe.
    package static let all: [Verb] = [
        status, inspect, browse, dump, diagram, views, query, exportStore, anonymise, importObjects, hash, ddl, create,
        schema,
        compile, decompile, generate, coexist, initialise, lock, lint, diff, changelog, answer, plan, migrate,
        finish, resume, validate, repair, quarantine,
        backup, rollback, salvage, downgrade, mirror, fleet, doctor, runs, log, test, fixture, checklist, parity,
        completions, manual,
    ]

    /// Words that other tools use, and the verb that does this here.
    static let otherWords = [
        "check": "validate", "verify": "validate", "info": "inspect", "show": "inspect",
        "web": "browse", "serve": "browse",
        "sql": "query", "select": "query", "graph": "diagram", "draw": "diagram", "csv": "export", "json": "export",
        "anonymize": "anonymise", "redact": "anonymise", "scrub": "anonymise", "seed": "import",
        "checksum": "hash", "new": "create", "setup": "init", "compare": "diff",
        "momc": "compile", "mapc": "compile", "codegen": "generate", "mogenerator": "generate",
        "upgrade": "migrate", "run": "migrate", "apply": "migrate", "undo": "rollback", "revert": "rollback",
        "restore": "backup", "fix": "repair", "recover": "salvage", "diagnose": "doctor", "bundle": "doctor",
        "history": "runs", "continue": "resume", "logs": "log",
    ]
}

extension MoultCommand {
    /// Returns the lines that `moult --help` prints.
    static func overview(style: TextStyle) -> [String] {
        ["Moult migrates Core Data and SwiftData stores: planned, backed up, verified, reversible.", ""]
            + ["\(style.bold("Usage:")) \(Program.name) VERB [arguments] [options]"]
            + Verb.section("Verbs", Verb.all.map { ($0.name, $0.summary) }, style)
            + Verb.section(
                "Options",
                [
                    ("--help", "Show this, or the help of a verb: \(Program.name) VERB --help."),
                    ("--version", "Show the version, the commit and SQLite's version."),
                ],
                style)
    }
}
