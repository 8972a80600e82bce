import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem

extension Verb {
    static let compile = Verb(
        "compile", "Compile a model or a mapping model, as Apple's momc and mapc do.",
        discussion: """
            An .xcdatamodel becomes a .mom, an .xcdatamodeld a .momd with VersionInfo.plist, an .xcmappingmodel a .cdm.
            Errors in the source are printed as FILE:LINE: error: SENTENCE, all of them, and nothing is written (exit
            code 1). The product takes its place when it is complete. The same program answers to the names momc and
            mapc, with their arguments.
            """,
        operands: [source],
        options: [.out, module, dryRun, noWarnings] + silencing.map(\.option),
        examples: [
            "moult compile Forum.xcdatamodeld -o Resources",
            "moult compile Forum.xcdatamodeld -o Build/Forum.momd --json",
        ]
    ) { invocation, console in
        let path = try invocation.required(source)
        let system = POSIXSystem()
        if let name = invocation[value: module], !name.isModuleName {
            throw invocation.wrong("--module takes the name of a Swift module, not \(name).")
        }
        let compiled: CompiledSource
        do {
            compiled = try CompiledSource(path, module: invocation[value: module])
        } catch let error as ModelFaults {
            return report(shown(error.faults, invocation), console)
        }
        let output = try OutputPath.of(
            compiled.name, compiled.ending, at: invocation[value: .out], others: ["mom", "momd", "cdm"], system)
        guard !(output + "/").hasPrefix(path + "/") else {
            throw MigrationError(
                .usage, "The output \(output) would be in the source.", place: output,
                remedy: "Name a path outside of \(path) with --out.")
        }
        let names = compiled.files.map { $0.path.isEmpty ? output : Path.join(output, $0.path) }
        if !invocation[dryRun] {
            try compiled.checkReplaced(output, system)
            try BuildProduct(files: compiled.files, path: output, rights: .byUmask).write(system)
        }
        let warnings = shown(compiled.warnings, invocation)
        if !console.isJSON { say(warnings, console) }
        console.print([
            "format": 1, "output": .string(output), "files": JSONValue(names),
            "currentVersion": JSONValue(compiled.versionInfo?.currentName),
            "checksums": .object(compiled.checksums.map { .init($0.name, .string($0.checksum.base64)) }),
            "warnings": .array(warnings.map(\.document)),
        ]) { _ in
            if invocation[dryRun] { return names.map(\.printable) }
            let what =
                compiled.versionInfo == nil
                ? "the mapping model" : Quantity.count(compiled.checksums.count, "version")
            return ["Compiled \(what) into \(output.printable)."]
        }
        return .done
    }

    private static let source = Operand(
        "MODEL", "An .xcdatamodeld, an .xcdatamodel, a model as JSON, a folder of versions, or an .xcmappingmodel.")
    static let module = Option.value(
        "module", "NAME", "The Swift module of classes whose name begins with a dot (the current product module).")
    private static let dryRun = Option.flag("dry-run", "Check the source and list the files; write nothing.")
    private static let noWarnings = Option.flag("no-warnings", "Print errors only.")
    /// The options that silence one kind of warning, as `momc` has them.
    private static let silencing: [(option: Option, kind: ModelFault.Kind)] = [
        (.flag("no-inverse-relationship-warnings", "Accept relationships without an inverse."), .missingInverse),
        (.flag("no-max-property-count-warnings", "Accept entities with very many properties."), .propertyCount),
        (.flag("no-delete-rule-warnings", "Accept the delete rule No Action."), .deleteRule),
    ]

    /// The faults that the options do not silence.
    private static func shown(_ faults: [ModelFault], _ invocation: Invocation) -> [ModelFault] {
        faults.filter { fault in
            guard fault.severity == .warning else { return true }
            return !invocation[noWarnings] && !silencing.contains { invocation[$0.option] && $0.kind == fault.kind }
        }
    }

    private static func say(_ faults: [ModelFault], _ console: Console) {
        for fault in faults { console.say(fault.text.printable) }
    }

    private static func report(_ faults: [ModelFault], _ console: Console) -> ExitCode {
        if !console.isJSON { say(faults, console) }
        console.print([
            "format": 1, "errors": .array(faults.filter { $0.severity == .error }.map(\.document)),
            "warnings": .array(faults.filter { $0.severity == .warning }.map(\.document)),
        ]) { _ in [] }
        return .findings
    }
}

extension ModelFault {
    fileprivate var document: JSONValue {
        ["file": .string(file), "line": .integer(Int64(line)), "message": .string(message)]
    }
}

extension Option {
    package static let out = value(
        "out", "PATH", "The file, or the folder for it; -o for short. By default the current folder.",
        completes: .files)
}

extension String {
    /// Whether a Swift module can have the name.
    fileprivate var isModuleName: Bool {
        guard let first = unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }
}
