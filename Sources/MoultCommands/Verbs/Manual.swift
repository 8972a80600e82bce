import MoultModel
import MoultSystem
import MoultTools

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
        try UnfinishedPath.replace(files, makingFolders: true, .byUmask, system)
        console.print([
            "format": 1, "files": JSONValue(pages.map { Path.join(folder, $0.file) }),
        ]) { _ in ["Wrote \(Quantity.count(pages.count, "page")) to \(folder.printable)."] }
        return .done
    }

    private static let pageFolder = Option.value(
        Option.out.name, "FOLDER", "The folder for the pages; -o for short. By default the current folder.",
        completes: .folders)
}
