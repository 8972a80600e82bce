import MoultTools

extension Verb {
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
        operands: [.store], options: [anonymiseOut, rule, anonymiseSeed, .model, .order],
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
        console.print(report)
        return .done
    }

    private static let anonymiseOut = Option.value(
        "out", "PATH", "The new store; nothing may exist there. -o for short.", completes: .files)
    fileprivate static let rule = Option.value(
        "rule", "NAME=RULE",
        "The rule of an entity or an attribute: keep, shuffle, replace (the default) or erase; may be repeated.")
    private static let anonymiseSeed = Option.value("seed", "N", "The seed of the stand-ins; by default a random one.")
}

extension Invocation {
    /// The rules of `moult.json` and, before them, those of `--rule`.
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
