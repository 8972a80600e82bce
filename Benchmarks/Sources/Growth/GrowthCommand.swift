/// A command whose time is measured, as words: `STORE`, `MODEL`, `RULES`, `BACKUP` and `NEW` stand for paths.
struct GrowthCommand {
    let words: [String]

    /// What is done once to a store and measured; commands between two blank lines run one after another on the same
    /// fresh copy. A line that begins with `sql` changes the copy in between and is not measured.
    ///
    /// Every verb is here but `completions` and `manual`, which read neither a model nor a store, `test --crash` and
    /// `browse`, which take as long as they are told to, and `init`, which asks.
    static let sittings = """
        hash MODEL

        ddl MODEL

        schema export NEW --model MODEL

        lock MODEL

        diff V000 V001 --model MODEL

        lint MODEL

        compile MODEL --out NEW

        decompile STORE --out NEW

        answer MODEL

        create NEW --model MODEL --fill 2

        fixture NEW --model MODEL --fill 2

        generate MODEL --for swift-data --out NEW

        coexist MODEL
        changelog MODEL
        schema bump MODEL
        checklist MODEL
        diagram MODEL --format dot

        diagram STORE
        query STORE SELECT\tcount(*)\tFROM\tE0
        checklist --for STORE MODEL

        views STORE --out NEW

        anonymise STORE --out NEW

        export STORE --format sqlite --out NEW

        export STORE --out NEW
        import STORE NEW

        status STORE --model MODEL
        inspect STORE
        dump STORE
        validate STORE
        validate STORE --full
        doctor STORE --model MODEL
        plan STORE --model MODEL
        salvage STORE NEW
        test STORE --model MODEL --kill 1

        sql UPDATE ZE0 SET ZNEXT = 10000000 + Z_PK WHERE Z_PK % 10 = 0
        repair STORE

        sql UPDATE ZE0 SET ZA1 = 5 WHERE Z_PK % 10 = 0
        validate STORE --rules RULES
        validate STORE --rules RULES --fix
        quarantine list STORE
        quarantine show STORE
        quarantine restore STORE --all

        backup create STORE
        backup list STORE
        backup verify STORE
        backup export STORE BACKUP NEW
        backup import STORE NEW
        backup prune STORE

        migrate STORE --model MODEL
        runs STORE
        log STORE
        downgrade STORE --to V000 --model MODEL
        rollback STORE --to V000

        migrate STORE --model MODEL --deferred
        finish STORE --model MODEL

        migrate STORE --model MODEL --into NEW

        resume STORE --model MODEL

        mirror start STORE --model MODEL --at NEW
        sql UPDATE ZE0 SET ZA1 = 5, Z_OPT = Z_OPT + 1 WHERE Z_PK % 10 = 0
        mirror sync STORE --model MODEL
        mirror status STORE --model MODEL
        mirror verify STORE --model MODEL
        mirror cutover STORE --model MODEL --accept-losses
        mirror stop STORE
        """.split(separator: "\n\n").map { sitting in
            sitting.split(separator: "\n").map { GrowthCommand(words: $0.split(separator: " ").map(String.init)) }
        }

    /// Without the paths, which are in capitals.
    var name: String {
        words.filter { word in
            word != "--model" && word != "--at" && !word.contains("\t")
                && word.contains { $0.isLowercase || $0.isNumber }
        }
        .joined(separator: " ")
    }

    /// What it changes in the store, where it is no command of Moult.
    var sql: String? { words.first == "sql" ? words.dropFirst().joined(separator: " ") : nil }

    var readsStore: Bool { words.contains("STORE") }
}
