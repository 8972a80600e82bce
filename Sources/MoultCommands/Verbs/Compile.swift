import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let compile = Verb(
        "compile", "Compile a model or a mapping model, as Apple's momc and mapc do.",
        discussion: """
            An .xcdatamodel becomes a .mom, an .xcdatamodeld becomes a .momd with VersionInfo.plist, and an
            .xcmappingmodel becomes a .cdm. If the source has errors, nothing is written, and the exit code is 1. All
            errors are printed, each as FILE:LINE: error: SENTENCE. The product is written under a temporary name, and
            renamed when it is complete. If the program is started under the name momc or mapc, for example through a
            symbolic link, it accepts the arguments of Apple's compiler of that name.
            """,
        operands: [source],
        options: [.out, module, dryRun, noWarnings] + silencing.map(\.option),
        examples: [
            "moult compile Forum.xcdatamodeld -o Resources",
            "moult compile Forum.xcdatamodeld -o Build/Forum.momd --json",
        ]
    ) { invocation, console in
        if let name = invocation[value: module], !name.isModuleName {
            throw invocation.wrong("--module takes the name of a Swift module, not \(name).")
        }
        let compiled = try CompileReport(
            compiling: try invocation.required(source), to: invocation[value: .out], module: invocation[value: module],
            isRehearsal: invocation[dryRun])
        let faults = compiled.faults.filter { invocation.shows($0.kind) }
        if !console.isJSON { for fault in faults { console.say(fault.description.printable) } }
        let warnings = faults.filter { $0.kind != .error }.map(\.document)
        guard compiled.isCompiled else {
            let errors = faults.filter { $0.kind == .error }.map(\.document)
            console.print(["format": 1, "errors": .array(errors), "warnings": .array(warnings)]) { _ in [] }
            return .findings
        }
        console.print([
            "format": 1, "output": .string(compiled.output), "files": JSONValue(compiled.files),
            "currentVersion": JSONValue(compiled.currentVersionName),
            "checksums": .object(compiled.versions.map { .init($0.name, .string($0.checksum)) }),
            "warnings": .array(warnings),
        ]) { _ in
            if invocation[dryRun] { return compiled.files.map(\.printable) }
            let what =
                compiled.isMapping ? "the mapping model" : Quantity.count(compiled.versions.count, "version")
            return ["Compiled \(what) into \(compiled.output.printable)."]
        }
        return .done
    }

    private static let source = Operand(
        "MODEL", "An .xcdatamodeld, an .xcdatamodel, a model as JSON, a folder of versions, or an .xcmappingmodel.")
    static let module = Option.value(
        "module", "NAME", "The Swift module of classes whose name begins with a dot (the current product module).")
    private static let dryRun = Option.flag("dry-run", "Check the source and list the files; write nothing.")
    fileprivate static let noWarnings = Option.flag("no-warnings", "Print errors only.")
    /// The options that silence one kind of warning, as `momc` has them.
    fileprivate static let silencing: [(option: Option, kind: CompileReport.Fault.Kind)] = [
        (.flag("no-inverse-relationship-warnings", "Accept relationships without an inverse."), .missingInverse),
        (.flag("no-max-property-count-warnings", "Accept entities with very many properties."), .propertyCount),
        (.flag("no-delete-rule-warnings", "Accept the delete rule No Action."), .deleteRule),
    ]
}

extension Invocation {
    /// Whether no option silences faults of a kind.
    fileprivate func shows(_ kind: CompileReport.Fault.Kind) -> Bool {
        kind == .error
            || !self[Verb.noWarnings] && !Verb.silencing.contains { self[$0.option] && $0.kind == kind }
    }
}

extension CompileReport.Fault {
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
