import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultSystem

extension Verb {
    static let diff = Verb(
        "diff", "Print the differences between two versions of a model, one sentence per change.",
        discussion: """
            OLD and NEW are paths of models (a bundle stands for its current version), or with --model names of
            versions. Changes that do not change the version hash, which Core Data does not notice, are listed
            separately. Two compiled models (.mom) are also compared object for object. Exits with 0; with --check, 1 if
            anything differs.
            """,
        operands: [old, new], options: [.model, .check, .answers, .order],
        examples: [
            "moult diff Forum \"Forum 3\" --model Forum.xcdatamodeld",
            "moult diff Forum.xcdatamodeld Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let (older, newer) = try versions(invocation, console)
        let correspondence = try Correspondence(from: older, to: newer, answers: try invocation.answers())
        let inferred = try InferredMapping(correspondence)
        let diff = DiffReport(ModelDiff(correspondence), inferred, from: older, to: newer)
        let archives = try archives(invocation)
        var document = diff.document
        if let archives, case .object(let members) = document {
            document = .object(members + [.init("archives", archives.document)])
        }
        console.print(document) { diff.lines(style: $0) + (archives.map { [""] + $0.lines } ?? []) }
        let differs = !diff.isEmpty || archives?.differences.isEmpty == false
        return invocation[.check] && differs ? .findings : .done
    }

    private static let old = Operand("OLD", "The older version: a model's path, or with --model a version's name.")
    private static let new = Operand("NEW", "The newer version, likewise.")

    /// What the archives of two compiled models differ in; nil where the operands are anything else.
    private static func archives(_ invocation: Invocation) throws -> ArchiveComparison? {
        let paths = (try invocation.required(old), try invocation.required(new))
        guard paths.0.hasSuffix(".mom"), paths.1.hasSuffix(".mom"), invocation[value: .model] == nil else { return nil }
        let system = POSIXSystem()
        return try ArchiveComparison(try system.read(paths.0), try system.read(paths.1))
    }

    private static func versions(
        _ invocation: Invocation, _ console: Console
    ) throws -> (ModelVersion, ModelVersion) {
        let names = (try invocation.required(old), try invocation.required(new))
        if let versions = try invocation.versionsIfKnown(console) {
            return try (
                invocation.version(named: names.0, in: versions), invocation.version(named: names.1, in: versions)
            )
        }
        let current = { (path: String) in
            try invocation.version(Verb.version, in: try invocation.versions(at: path, console))
        }
        return try (current(names.0), current(names.1))
    }
}

extension ArchiveComparison {
    fileprivate var document: JSONValue {
        [
            "equal": .bool(differences.isEmpty),
            "differences": .array(
                differences.map {
                    ["place": .string($0.place), "old": JSONValue($0.old), "new": JSONValue($0.new)]
                }),
        ]
    }

    fileprivate var lines: [String] {
        guard !differences.isEmpty else { return ["Object for object, the compiled models are equal."] }
        return ["Object for object, the compiled models differ in \(Quantity.count(differences.count, "value")):"]
            + differences.map { "  \($0.place.printable): \(Self.shown($0.old)) → \(Self.shown($0.new))" }
    }

    private static func shown(_ value: String?) -> String {
        guard let value else { return "none" }
        let text = value.printable
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}
