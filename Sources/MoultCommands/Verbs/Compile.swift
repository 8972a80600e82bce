import MoultModel
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
        var report = try CompileReport(
            compiling: try invocation.required(source), to: invocation[value: .out], module: invocation[value: module],
            isRehearsal: invocation[dryRun])
        report.faults.removeAll { !invocation.shows($0.kind) }
        if !console.isJSON { for fault in report.faults { console.say(fault.description.printable) } }
        console.print(report)
        return report.isCompiled ? .done : .findings
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
