import Moult
import MoultBasics

/// The verbs for one kind of work, as the help lists them.
package struct VerbGroup: Sendable {
    /// The word for `moult help`.
    package let name: String
    /// The work, in a few words.
    package let summary: String
    package let verbs: [Verb]

    private init(_ name: String, _ summary: String, _ verbs: [String]) {
        (self.name, self.summary) = (name, summary)
        self.verbs = verbs.compactMap { name in Verb.all.first { $0.name == name } }
    }

    /// The groups, in the order of the work: look, decide, change, recover.
    package static let all: [VerbGroup] = {
        let groups = [
            VerbGroup("look", "look at a store", ["status", "inspect", "browse", "dump", "diagram", "runs", "log"]),
            VerbGroup(
                "rows", "get rows out of a store, and into it", ["query", "views", "export", "import", "anonymise"]),
            VerbGroup(
                "migrations", "plan a migration, run it and undo it",
                ["plan", "answer", "migrate", "finish", "resume", "rollback", "downgrade"]),
            VerbGroup(
                "rescue", "find out what is wrong with a store, and repair it",
                ["doctor", "validate", "repair", "quarantine", "backup", "salvage"]),
            VerbGroup(
                "guard", "check a model in pull requests and at releases",
                ["init", "lock", "reconstruct", "lint", "cloudkit", "explain", "diff", "changelog", "checklist"]),
            VerbGroup(
                "models", "compile a model, generate code, print hashes and SQL",
                ["compile", "decompile", "generate", "coexist", "schema", "hash", "ddl"]),
            VerbGroup(
                "tests", "make stores for tests, and test a migration with faults",
                ["create", "fixture", "test", "parity"]),
            VerbGroup("many", "move a store, keep two in step, or work on thousands", ["move", "mirror", "fleet"]),
        ]
        let grouped = Set(groups.flatMap(\.verbs).map(\.name))
        let rest = Verb.all.map(\.name).filter { !grouped.contains($0) }
        return groups + [VerbGroup("tool", "set up \(Program.name) itself", rest)]
    }()

    /// Returns the group that `moult help` knows by a word; nil if there is none.
    package static func named(_ name: String) -> VerbGroup? { all.first { $0.name == name } }

    /// The verbs to begin with, each with its purpose.
    private static let first: [(verb: String, help: String)] = [
        ("status", "which version a store is of, and how far behind"),
        ("browse", "its objects and its model in a browser"),
        ("query", "SQL over its entities, under their own names"),
        ("plan", "what a migration will do, before it is done"),
        ("migrate", "do it: backed up, verified, all or nothing"),
        ("rollback", "undo it"),
        ("doctor", "what is wrong with a store, and which command helps"),
    ]

    /// Returns the lines of `moult help GROUP`.
    package func help(style: TextStyle) -> [String] {
        ["\(summary.capitalizedFirst)."]
            + Verb.section("Verbs", verbs.map { ($0.name, $0.summary) }, style)
            + ["", "\(Program.name) VERB --help has the options and examples of a verb."]
    }

    /// Returns the lines that `moult` and `moult --help` print.
    package static func overview(style: TextStyle) -> [String] {
        let name = Program.name
        return [
            "Moult migrates Core Data and SwiftData stores, without Apple's frameworks: planned, backed up, verified, and "
                + "reversible.", "", "\(style.bold("Usage:")) \(name) STORE      one screen about a store",
            "       \(name) VERB [arguments] [options]",
        ]
            + Verb.section("Begin with", first.map { ($0.verb, $0.help) }, style)
            + Verb.section("All verbs, by the work they do", all.map { ($0.name, $0.list) }, style)
            + [
                "", "\(name) help VERB       options and examples of a verb",
                "\(name) help GROUP      the verbs of a group, such as \(name) help rows",
                "\(name) help --all      every verb", "\(name) --version",
            ]
    }

    /// The names of the verbs in one line.
    private var list: String { verbs.map(\.name).joined(separator: ", ") }

    /// Returns the lines of `moult help --all`: every verb, in its group.
    package static func everything(style: TextStyle) -> [String] {
        var lines = ["\(style.bold("Usage:")) \(Program.name) VERB [arguments] [options]"]
        let width = Verb.all.map(\.name.count).max() ?? 0
        for group in all {
            let rows = group.verbs.map { verb in
                // The summaries of all groups are in one column.
                (verb.name + String(repeating: " ", count: width - verb.name.count), verb.summary)
            }
            lines += Verb.section("\(group.name): \(group.summary)", rows, style)
        }
        return lines
    }
}

extension Verb {
    /// Words from other tools, each with what does the same here: a verb, with its options if it needs any.
    package static let otherWords = [
        // Looking: Datasette, sqlite3, sqlite-utils, ls.
        "info": "inspect", "show": "inspect", "describe": "inspect", "entities": "inspect", "counts": "inspect",
        "count": "inspect", "tables": "inspect", "ls": "inspect", "list": "inspect", "stat": "status", "st": "status",
        "current": "status", "behind": "status", "where": "status", "which": "status",
        "overview": "status", "summary": "status",
        "open": "browse", "gui": "browse", "ui": "browse", "web": "browse", "serve": "browse", "server": "browse",
        "view": "browse", "explore": "browse", "studio": "browse", "admin": "browse", "datasette": "browse",
        "cat": "dump", "print": "dump", "dumpdata": "dump", "objects": "dump", "records": "dump",
        "graph": "diagram", "draw": "diagram", "erd": "diagram", "er": "diagram", "picture": "diagram",
        "mermaid": "diagram", "dot": "diagram", "svg": "diagram", "visualize": "diagram", "visualise": "diagram",
        "graph_models": "diagram", "history": "runs", "reflog": "runs",
        "showmigrations": "status", "logs": "log",
        // Rows.
        "sql": "query", "select": "query", "shell": "query", "sqlite3": "query", "dbshell": "query", "exec": "query",
        "repl": "query", "csv": "export", "json": "export --format jsonl", "jsonl": "export --format jsonl",
        "excel": "export", "to-csv": "export", "extract": "export", "sqlite": "export --format sqlite",
        "loaddata": "import", "load": "import", "insert": "import", "seed": "import",
        "anonymize": "anonymise", "redact": "anonymise", "scrub": "anonymise", "mask": "anonymise",
        "pseudonymise": "anonymise", "pseudonymize": "anonymise", "sanitize": "anonymise",
        // Migrations: Django, Flyway, Atlas, Alembic, Rails, Prisma.
        "preview": "plan", "explain-plan": "plan", "sqlmigrate": "plan --sql",
        "dry-run": "migrate --dry-run", "dryrun": "migrate --dry-run", "rehearse": "migrate --dry-run",
        "simulate": "migrate --dry-run",
        "upgrade": "migrate", "update": "migrate", "run": "migrate", "apply": "migrate",
        "up": "migrate", "deploy": "migrate", "convert": "export", "migration": "migrate", "db:migrate": "migrate",
        "undo": "rollback", "revert": "rollback", "reset": "rollback", "db:rollback": "rollback", "down": "downgrade",
        "restore": "backup restore", "continue": "resume", "retry": "resume", "recover": "salvage",
        "mv": "move", "relocate": "move",
        "question": "answer", "questions": "answer", "resolve": "answer", "rename": "answer",
        "makemigrations": "answer",
        // Rescue.
        "check": "validate", "verify": "validate", "integrity": "validate", "fsck": "doctor", "diagnose": "doctor",
        "health": "doctor", "bundle": "doctor", "report": "doctor", "fix": "repair",
        "rescue-store": "salvage", "undelete": "salvage", "snapshot": "backup create", "save": "backup create",
        "copy": "backup create", "backups": "backup list", "snapshots": "backup list", "prune": "backup prune",
        "clean": "backup prune", "gc": "backup prune",
        // Models.
        "compare": "diff", "changes": "diff", "release-notes": "changelog", "notes": "changelog", "freeze": "lock",
        "pin": "lock", "tags": "reconstruct", "backfill": "reconstruct",
        "setup": "init", "configure": "init", "config": "init", "baseline": "init",
        "moult.json": "init", "exceptions": "lint", "exception": "lint", "analyze": "lint", "analyse": "lint",
        "vet": "lint", "cktool": "cloudkit", "ckdb": "cloudkit schema", "ci": "lint", "checksum": "hash",
        "digest": "hash", "hashes": "hash", "create-table": "ddl",
        "schema-sql": "ddl", "sqlmodel": "ddl", "momc": "compile", "mapc": "compile", "build": "compile",
        "codegen": "generate", "mogenerator": "generate", "inspectdb": "generate", "classes": "generate",
        "swiftdata": "generate", "bump": "schema bump", "decode": "decompile", "uncompile": "decompile",
        // Stores for tests.
        "new": "create", "make": "create", "touch": "create", "sample": "create", "fixtures": "fixture",
        "testdata": "fixture", "crash": "test --crash", "tenants": "fleet", "batch": "fleet", "slurm": "fleet submit",
        "sync": "mirror sync", "replicate": "mirror", "completion": "completions", "man": "manual",
    ]

    /// The verbs that change nothing. A word from another tool runs them directly.
    static let readingVerbs: Set = [
        "inspect", "status", "dump", "diagram", "query", "runs", "log", "doctor", "validate",
    ]

    /// Returns the command for a word from another tool; nil if there is none, or this version lacks its verb.
    static func command(for word: String) -> String? {
        guard let command = otherWords[word.lowercased()],
            let verb = command.split(separator: " ").first, all.contains(where: { $0.name == verb })
        else { return nil }
        return command
    }
}
