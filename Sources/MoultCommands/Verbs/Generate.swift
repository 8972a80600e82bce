import MoultEngine
import MoultGenerate
import MoultModel
import MoultModelFiles
import MoultReport
import MoultStore
import MoultSystem
import MoultTools

extension Verb {
    static let generate = Verb(
        "generate",
        "Write the Swift classes of a model: Core Data's, MoultCoreData's or SwiftData's; or tests of its migrations.",
        discussion: """
            --for core-data writes what Xcode's code generation writes. --for moult writes the same classes for
            MoultCoreData. --for both writes one source for Core Data on Apple's platforms and MoultNSCoreData
            elsewhere. --for swift-data writes @Model classes, a VersionedSchema for every version and a
            SchemaMigrationPlan with a stage between each two consecutive versions.
            If --out ends with .swift, all classes are written into that one file; swift-data needs a folder. Only
            generated files are replaced; --replace replaces others too. A file that would not change is not written.
            """,
        operands: [.model], options: [api, .out, version, codeGeneration, typeName, dryRun, replaces, .order],
        examples: [
            "moult generate Forum.xcdatamodeld --for both -o Sources",
            "moult generate Forum.xcdatamodeld --for swift-data -o Sources --json",
        ], subverbs: [generateTests]
    ) { invocation, console in
        var (files, skipped) = try generated(invocation, console)
        var folder = invocation[value: .out] ?? "."
        if folder.hasSuffix(".swift") {
            files = [GeneratedFile(Path.name(of: folder), joining: files)]
            folder = Path.folder(of: folder)
        }
        let system = POSIXSystem()
        var written: [String] = []
        var changes: [(path: String, bytes: [UInt8])] = []
        for file in files {
            let (path, bytes) = (Path.join(folder, file.name), Array(file.text.utf8))
            if try isUnchanged(path, bytes, replaces: invocation[replaces], system) { continue }
            changes.append((path, bytes))
            written.append(path)
        }
        if !invocation[dryRun] {
            let source = invocation[.model] ?? ""
            let rights: FileRights = try StoreProbe.isDatabase(source) ? .like(source) : .byUmask
            try UnfinishedPath.replace(changes, makingFolders: true, rights, system)
        }
        let names = files.map { Path.join(folder, $0.name) }
        console.print([
            "format": 1, "folder": .string(folder), "files": JSONValue(names), "written": JSONValue(written),
            "skipped": JSONValue(skipped),
        ]) { _ in
            if invocation[dryRun] { return names.map(\.printable) }
            let without = skipped.isEmpty ? "" : " No class is asked for \(skipped.joined(separator: ", ").printable)."
            return [
                "Wrote \(Quantity.count(written.count, "file")) of \(files.count) to \(folder.printable).\(without)"
            ]
        }
        return .done
    }

    private static let apis: [(word: String, api: CoreDataClasses.API)] = [
        ("core-data", .coreData), ("moult", .moult), ("both", .both),
    ]
    private static let api = Option.value(
        "for", "API", "core-data (the default), moult, both or swift-data.",
        completes: .words(apis.map(\.word) + ["swift-data"]))
    private static let codeGeneration = Option.value(
        "codegen", "KIND",
        "class, category (properties only), or model (what the model says for each entity). By default model, or class "
            + "if the model says nothing for any entity.",
        completes: .words(["class", "category", "model"]))
    private static let typeName = Option.value(
        "name", "NAME", "The base name of the SwiftData types; by default that of the model's file.")
    private static let dryRun = Option.flag("dry-run", "List the files; write nothing.")
    private static let replaces = Option.flag("replace", "Also replace files that were not generated.")

    private static func generated(
        _ invocation: Invocation, _ console: Console
    ) throws -> (files: [GeneratedFile], skipped: [String]) {
        let versions = try invocation.operandVersions(console)
        let word = invocation[value: api] ?? "core-data"
        if word == "swift-data" {
            guard invocation[value: version] == nil, invocation[value: codeGeneration] == nil else {
                throw invocation.wrong("--for swift-data takes neither --version nor --codegen.")
            }
            guard invocation[value: .out]?.hasSuffix(".swift") != true else {
                throw invocation.wrong("--for swift-data writes a file for each version. --out takes a folder.")
            }
            let name = invocation[value: typeName] ?? invocation[.model].map { Path.stem(of: $0) } ?? "App"
            return (try SwiftDataModels(versions, named: name).files, [])
        }
        guard let api = apis.first(where: { $0.word == word })?.api else {
            throw invocation.wrong("--for takes core-data, moult, both or swift-data, not \(word).")
        }
        let model = try invocation.version(version, in: versions).model
        let classes = try CoreDataClasses(model, api, try choice(invocation, model))
        return (classes.files, classes.skipped)
    }

    private static func choice(
        _ invocation: Invocation, _ model: ManagedObjectModel
    ) throws -> CoreDataClasses.Choice {
        switch invocation[value: codeGeneration] {
        case nil: model.entities.contains { $0.codeGenerationType != nil } ? .asModelled : .whole
        case "class": .whole
        case "category": .category
        case "model": .asModelled
        case let other?: throw invocation.wrong("--codegen takes class, category or model, not \(other).")
        }
    }

    /// - Throws: `wouldReplace` for a file that was not generated.
    private static func isUnchanged(
        _ path: String, _ bytes: [UInt8], replaces: Bool, _ system: some System
    ) throws -> Bool {
        guard try system.exists(path) else { return false }
        let old = try system.read(path)
        if old == bytes { return true }
        guard replaces || String(decoding: old.prefix(1000), as: UTF8.self).contains(GeneratedFile.mark) else {
            throw MigrationError(
                .wouldReplace, "\(path) was not generated. Nothing was written.", place: path,
                remedy: "Name another folder with --out, or pass --replace.")
        }
        return false
    }
}
