import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let exportStore = Verb(
        "export", "Write the objects of a store as CSV, JSON Lines or a plain SQLite database.",
        discussion: """
            Each entity has a file or table with its own objects, without those of its sub-entities. A to-many
            relationship has one too if it is ordered or its inverse is not to-one: ENTITY_RELATIONSHIP, with the keys
            of both ends. If both sides of a many-to-many relationship are unordered, only one of the two sides has a
            file or table. Dates are ISO 8601 in UTC, UUIDs are text, to-one relationships are keys, external data is
            the path of its file, which is not copied, and other bytes are base64 in JSON Lines, x'…' in CSV and blobs in SQLite.
            Without -o, the objects of one entity are printed as csv or jsonl. The extension of the new file gives the
            format: -o posts.csv and -o posts.jsonl with one --entity write one file, .sqlite and .db the database.
            In one file of JSON Lines, a to-many relationship of --columns is a list of keys.
            """,
        operands: [.store],
        options: [exportOut, exportFormat, exported, predicate, limit, columns, .exact, .model, .order, .events],
        examples: [
            "moult export forum.sqlite -o csv",
            "moult export forum.sqlite --format sqlite -o plain.sqlite",
            "moult export forum.sqlite --entity Post --where \"author.name BEGINSWITH 'A'\" --columns Z_PK,text --limit 10",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let out = invocation.newFile(exportOut)
        let name = try invocation.format(exportFormat, of: ExportFormat.allCases.map(\.rawValue), at: out)
        let format = name.flatMap(ExportFormat.init) ?? .csv
        let (selection, isExact) = (try selection(invocation), invocation[.exact])
        let versions = try invocation.versionsIfKnown(console)
        if let path = out {
            let report = try ExportReport(
                store, selection, format, isExact: isExact, versions: versions, to: path,
                isCancelled: Interruption.heard)
            console.print(report)
            console.say(guarded: report.guarded)
            console.say(leftOut: report.leftOut)
            console.say(missingFiles: report.missingFiles)
            return .done
        }
        guard format != .sqlite, selection.entities.count == 1 else {
            throw invocation.wrong("\(Program.name) export needs -o PATH, or one --entity to print as csv or jsonl.")
        }
        let written = try ExportReport.write(
            store, selection, console.isJSON ? .jsonl : format, isExact: isExact, versions: versions
        ) {
            console.exactly($0)
            return console.outputError == nil
        }
        console.say(guarded: written.guarded)
        console.say(leftOut: written.leftOut)
        console.say(missingFiles: written.missingFiles)
        return .done
    }

    private static let exportOut = Option.value(
        "out", "PATH", "The new folder, or with --format sqlite the new file. -o for short.", completes: .files)
    private static let exportFormat = Option.value(
        "format", "NAME", "csv (the default), jsonl or sqlite.",
        completes: .words(ExportFormat.allCases.map(\.rawValue)))
    private static let exported = Option.value("entity", "NAME", "Export only this entity; may be repeated.")
    private static let predicate = Option.value(
        "where", "PREDICATE", "With one --entity: only the objects that match this Core Data predicate.")
    private static let limit = Option.value(
        "limit", "N", "Export at most N objects of each entity: those with the lowest keys.")
    private static let columns = Option.value(
        "columns", "NAMES", "With one --entity: only these columns and to-many relationships, separated by commas.")

    private static func selection(_ invocation: Invocation) throws -> ExportSelection {
        let columns = invocation.list(columns)
        guard columns?.isEmpty != true else { throw invocation.wrong("--columns takes the names of columns.") }
        return ExportSelection(
            entities: invocation.all(exported),
            predicate: try invocation[value: predicate].map { try Predicate(parsing: $0) },
            limit: try invocation.number(limit), columns: columns)
    }

    static let importObjects = Verb(
        "import", "Add objects from CSV or JSON Lines to a store, validated as in a save.",
        discussion: """
            Reads what moult export writes: a folder, or one file. A file is named after its entity (User.csv,
            Post.jsonl), or ENTITY_RELATIONSHIP if it has the pairs of a to-many relationship. Each row of an entity's
            file becomes a new object. Z_PK is the key of the object in the files; in the store, the object gets a new
            key. The value of a to-one relationship is the key of its destination. This key is looked up among the
            objects of the files first, then in the store. A column RELATIONSHIP.ATTRIBUTE names the destination by the
            value of an attribute instead; only one object may have that value. Everything is saved in one transaction,
            or nothing is.

            If the process dies or the disk fails while an import is saved, run the same import again. It finds out
            whether the objects are in the store, and adds them only if they are not.
            """,
        operands: [.store, importPath], options: [importedEntity, importExact, .model, .order, .events],
        examples: ["moult import forum.sqlite csv", "moult import forum.sqlite csv/User.csv"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(importPath)
        try invocation.keeper().heal(unlessRehearsal: false)
        let report = try ImportReport(
            path, entity: invocation[value: importedEntity], isExact: invocation[importExact], into: store,
            versions: invocation.versions(console))
        if !console.isJSON { report.note.map(console.say) }
        console.print(report.document) { report.lines(style: $0) }
        console.flush()
        report.confirm()
        return .done
    }

    private static let importPath = Operand("PATH", "A folder that moult export has written, or a .csv or .jsonl file.")
    private static let importedEntity = Option.value(
        "entity", "NAME", "The entity of a file that is not named after it.")
    private static let importExact = Option.flag(
        "exact", "Read CSV that was written with --exact: a leading apostrophe is part of the string.")

    static let anonymise = Verb(
        "anonymise", "Make a copy of a store with stand-ins for its values: a fixture without the user's data.",
        discussion: """
            The copy has the same number of objects, with the same keys and links. Each value is replaced by a stand-in
            of the same type, length and kind of characters; equal values have equal stand-ins. NULLs, the order of
            values, whether a value is below or above each limit that the model sets, the intervals between dates and
            the sizes of external files are preserved, so that the copy migrates, or fails to migrate, as the store
            does. Booleans, whole numbers from -9 to 9 and values that the model contains (default values, limits, enum
            cases, constants of predicates) stay as they are.
            The same seed always gives the same copy; do not pass the seed on. --rule, or anonymise in moult.json, sets
            the rule of an entity or an attribute. replace, the default, writes stand-ins. keep leaves the values as
            they are. shuffle redistributes them at random among the objects of the entity. erase sets them to nil; a
            required attribute gets its default value, or an empty value if it has none. At the end, the bytes of the
            copy are searched for every replaced string of four or more characters. If one of twelve bytes or more is
            found, the copy is removed. A shorter one may be there by chance: the report counts it.
            """,
        operands: [.store], options: [anonymiseOut, rule, anonymiseSeed, .model, .order, .events],
        examples: [
            "moult anonymise forum.sqlite -o fixture.sqlite",
            "moult anonymise forum.sqlite -o fixture.sqlite --seed 7 --rule Post.text=erase --rule Thread=keep",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(anonymiseOut)
        let rules = try invocation.standInRules()
        let report = try AnonymousReport(
            of: store, versions: invocation.versionsIfKnown(console), rules: rules,
            seed: invocation.number(anonymiseSeed), at: path)
        return console.print(report)
    }

    private static let anonymiseOut = Option.value(
        "out", "PATH", "The new store; nothing may exist there. -o for short.", completes: .files)
    fileprivate static let rule = Option.value(
        "rule", "NAME=RULE",
        "The rule of an entity or an attribute: keep, shuffle, replace (the default) or erase; may be repeated.")
    private static let anonymiseSeed = Option.value("seed", "N", "The seed of the stand-ins; by default a random one.")
}

extension Invocation {
    /// Returns the rules of `moult.json`, overridden by those of `--rule`.
    fileprivate func standInRules() throws -> StandInRules {
        var rules = configuration?.standIns.rules ?? [:]
        for text in all(Verb.rule) {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let rule = StandInRules.Rule(rawValue: parts[1]) else {
                throw wrong(
                    "--rule takes a name and keep, shuffle, replace or erase, such as User.name=erase, not \(text).")
            }
            rules[parts[0]] = rule
        }
        return StandInRules(rules)
    }
}

extension Console {
    /// Prints how many paths of an export lead to nothing.
    fileprivate func say(missingFiles count: Int) {
        guard count > 0 else { return }
        let files = Quantity.count(count, "file of external data is", plural: "files of external data are")
        say("\(files) not there, although the store names \(count == 1 ? "it" : "them").")
    }

    /// Prints which sub-entities an export of chosen entities leaves out.
    fileprivate func say(leftOut names: [String]) {
        guard !names.isEmpty else { return }
        say(
            "The objects of sub-entities are not included: \(names.joined(separator: ", ")). Export these with --entity."
        )
    }
}
