import MoultBasics
import MoultTools

/// A manual page for `man`, made from the same table as `--help`.
package struct ManualPage {
    /// The name of the page and of its file: `moult-backup-list.1`.
    package let file: String
    /// The lines of the file.
    package let lines: [String]

    /// Returns the overview, and a page for each verb, in the order of the list.
    package static func all(of verbs: [Verb]) -> [ManualPage] {
        [overview(verbs)]
            + verbs.flatMap { verb in
                [ManualPage(verb, path: [verb.name])]
                    + verb.subverbs.map { ManualPage($0, path: [verb.name, $0.name]) }
            }
    }

    private init(_ name: String, summary: String, _ body: [String]) {
        file = name + ".1"
        let version = "Moult \(MoultCommand.version)"
        lines =
            [".TH \(Self.escaped(name.uppercased())) 1 \"\" \"\(version)\" \"Moult\"", ".SH NAME"]
            + [Self.escaped("\(name) - \(summary.lowercasedFirst.dropLast(summary.hasSuffix(".") ? 1 : 0))")] + body
    }

    private init(_ verb: Verb, path: [String]) {
        let tail = verb.subverbs.isEmpty ? verb.operands.map(\.usage) + ["[options]"] : ["VERB"]
        var body = [".SH SYNOPSIS", ".B \(Self.escaped((["moult"] + path).joined(separator: " ")))"]
        body += [Self.escaped(tail.joined(separator: " "))]
        if !verb.discussion.isEmpty { body += [".SH DESCRIPTION"] + Self.paragraph(verb.discussion) }
        body += Self.section("ARGUMENTS", verb.shownOperands)
        body += Self.section("VERBS", verb.subverbs.map { ($0.name, $0.summary) })
        body += Self.section("OPTIONS", verb.shownOptions)
        body += [".SH EXAMPLES", ".EX"] + verb.examples.map(Self.escaped) + [".EE"]
        let others = verb.subverbs.map { (path + [$0.name]).joined(separator: "-") }
        let above = path.dropLast().map { "moult-\($0)" }
        let related = ["moult"] + above + others.map { "moult-\($0)" }
        self.init((["moult"] + path).joined(separator: "-"), summary: verb.summary, body + Self.related(related))
    }

    private static func overview(_ verbs: [Verb]) -> ManualPage {
        ManualPage(
            "moult", summary: "migrate Core Data and SwiftData stores: planned, backed up, verified, reversible",
            [".SH SYNOPSIS", ".B moult", escaped("VERB [arguments] [options]"), ".br", ".B moult", "STORE [options]"]
                + section("VERBS", verbs.map { ($0.name, $0.summary) })
                + section(
                    "OPTIONS",
                    [
                        ("--help", "Show the verbs, or the help of a verb."),
                        ("--version", "Show the version, the commit and SQLite's version."),
                    ])
                + section(
                    "EXIT STATUS",
                    [
                        ("0", "Done, or nothing to do."), ("1", "There are findings."), ("2", "Wrong usage."),
                        ("3", "Refused. Nothing was changed."), ("4", "Not a usable store or model."),
                        ("5", "Failed, or stopped with Control-C. The store is unchanged."),
                        ("6", "Not finished: the budget was used up. Repeat the call to continue."),
                        ("70", "A bug in Moult."), ("74", "Standard output could not be written."),
                        ("141", "Standard output has no reader any more."),
                    ]) + related(verbs.map { "moult-\($0.name)" }))
    }

    // MARK: - roff

    private static func related(_ pages: [String]) -> [String] {
        [".SH SEE ALSO", pages.map { "\(escaped($0))(1)" }.joined(separator: ", ")]
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> [String] {
        guard !rows.isEmpty else { return [] }
        return [".SH \(title)"] + rows.flatMap { name, help in [".TP", ".B \(escaped(name))", escaped(help)] }
    }

    /// Returns a text as roff paragraphs. Lines are filled as prose, but a line that ends early is a deliberate break.
    private static func paragraph(_ text: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        return zip(lines, lines.dropFirst().map(Optional.some) + [nil]).flatMap { line, next in
            let word = next?.prefix { $0 != " " }.count ?? 0
            return [escaped(line)] + (next != nil && line.count + 1 + word < 100 ? [".br"] : [])
        }
    }

    /// Returns the text escaped: no line starts a request, and hyphens can be copied.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}

extension Verb {
    static let manual = Verb(
        "manual", "Write the manual pages, one for each verb.",
        discussion: "They contain the same text as --help. A package installs them in share/man/man1.",
        options: [pageFolder], examples: ["moult manual -o man1"]
    ) { invocation, console in
        let folder = invocation[value: .out] ?? "."
        let system = POSIXSystem()
        let pages = ManualPage.all(of: Verb.all)
        let files = pages.map { page in
            (Path.join(folder, page.file), Array(page.lines.map { $0 + "\n" }.joined().utf8))
        }
        try StagedPath.replace(files, makingFolders: true, .byUmask, system)
        return console.print([
            "format": 1, "files": JSONValue(pages.map { Path.join(folder, $0.file) }),
        ]) { _ in ["Wrote \(Quantity.count(pages.count, "page")) to \(folder.printable)."] }
    }

    private static let pageFolder = Option.value(
        Option.out.name, "FOLDER", "The folder for the pages; -o for short. By default the current folder.",
        completes: .folders)
}
