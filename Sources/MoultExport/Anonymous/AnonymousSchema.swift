import MoultModel
import MoultSQLite

/// The texts in the statements of a catalogue: what an app's views, triggers, indexes, defaults and checks compare with is
/// as much a text of the store as a value is, and gets the same stand-in.
struct AnonymousSchema {
    private let entries: [Catalogue.Entry]
    /// The names of tables, columns, indexes, triggers and views, in capitals.
    private let names: Set<String>
    /// The texts that get stand-ins.
    private let texts: Set<[UInt8]>
    private let standIns: StandIns

    /// Functions whose texts are formats and paths: `'%Y'`, `'start of month'`, `'$.name'`.
    private static let formatting: Set<String> = [
        "STRFTIME", "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "TIMEDIFF",
    ]

    /// Notes the texts.
    ///
    /// - Parameter standIns: those of all values are noted already.
    init(_ catalogue: Catalogue, columns: [String], _ standIns: StandIns) {
        entries = catalogue.entries.filter { entry in
            // What a module makes of its arguments only it knows; Core Data's own statements name nothing but the model.
            !entry.isVirtual && entry.sql?.contains("NSCoreData") == false
        }
        names = Set((catalogue.entries.flatMap { [$0.name, $0.tableName] } + columns).map { $0.uppercased() })
        self.standIns = standIns
        var texts: Set<[UInt8]> = []
        for entry in entries {
            let tokens = entry.sql?.sqlTokens ?? []
            for place in tokens.indices {
                guard let text = Self.text(of: tokens[place]), !names.contains(tokens[place].name.uppercased()) else {
                    continue
                }
                let isName = !tokens[place].text.hasPrefix("'")
                let isValue = standIns.isNoted(text)
                guard isValue || !isName && OriginalTexts.isLong(text) && !Self.isFormat(tokens, place) else {
                    continue
                }
                texts.insert(text)
            }
        }
        self.texts = texts
        for text in texts { _ = standIns.text(text) }
    }

    /// The text of a string; SQLite takes a name in double quotes for one where nothing is called so.
    private static func text(of token: SQLToken) -> [UInt8]? {
        token.text.hasPrefix("'") || token.text.hasPrefix("\"") ? Array(token.name.utf8) : nil
    }

    /// Whether a string is an argument of a function that takes formats, or a path into JSON.
    private static func isFormat(_ tokens: [SQLToken], _ place: Int) -> Bool {
        if tokens[place].name.hasPrefix("$") { return true }
        var depth = 0
        for place in stride(from: place - 1, through: 1, by: -1) {
            switch tokens[place].text {
            case ")": depth += 1
            case "(" where depth > 0: depth -= 1
            case "(": return formatting.contains(tokens[place - 1].word)
            default: continue
            }
        }
        return false
    }

    // MARK: - The new statements

    /// The statement with the stand-ins of its texts, without comments that have a text of the store in them.
    func statement(_ sql: String) -> String { rewritten(sql) { "'\($0.replacing("'", with: "''"))'" } }

    /// A statement without any text: names and words alone.
    func words(of sql: String) -> String { rewritten(sql, keepsOthers: false) { _ in "" } }

    private func rewritten(_ sql: String, keepsOthers: Bool = true, _ literal: (String) -> String) -> String {
        var (new, end) = ("", sql.startIndex)
        func add(_ gap: Substring) {
            let isComment = gap.contains { $0 == "-" || $0 == "/" }
            new += isComment && (!keepsOthers || standIns.originals.first(in: Array(gap.utf8)) != nil) ? " " : gap
        }
        for token in sql.sqlTokens {
            add(sql[end..<token.range.lowerBound])
            if let text = Self.text(of: token), texts.contains(text) {
                new += literal(String(decoding: standIns.text(text), as: UTF8.self))
            } else if keepsOthers || !token.text.hasPrefix("'") {
                new += token.text
            }
            end = token.range.upperBound
        }
        add(sql[end...])
        return new
    }

    /// Gives tables, indexes and views their new statements; triggers are not there now.
    ///
    /// - Returns: the tables whose rows and indexes have to be made anew, because values may be computed from texts.
    func replace(on connection: Connection) throws -> Set<String> {
        var changed: Set<String> = []
        for entry in entries where entry.kind != .trigger {
            guard let sql = entry.sql else { continue }
            let new = statement(sql)
            guard new != sql else { continue }
            try connection.editSchema(
                "UPDATE main.sqlite_master SET sql = \(new.quotedLiteral) WHERE type = \(entry.kind.rawValue.quotedLiteral) "
                    + "AND name = \(entry.name.quotedLiteral)")
            if entry.kind != .view { changed.insert(entry.tableName) }
        }
        return changed
    }
}
