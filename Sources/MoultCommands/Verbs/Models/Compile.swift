import Moult
import MoultBasics
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
    /// The options that silence one kind of warning, as in `momc`.
    fileprivate static let silencing: [(option: Option, kind: CompileReport.Fault.Kind)] = [
        (.flag("no-inverse-relationship-warnings", "Accept relationships without an inverse."), .missingInverse),
        (.flag("no-max-property-count-warnings", "Accept entities with very many properties."), .propertyCount),
        (.flag("no-delete-rule-warnings", "Accept the delete rule No Action."), .deleteRule),
    ]
}

extension Invocation {
    /// Whether no option silences faults of a kind.
    fileprivate func shows(_ kind: CompileReport.Fault.Kind) -> Bool {
        kind == .error || !self[Verb.noWarnings] && !Verb.silencing.contains { self[$0.option] && $0.kind == kind }
    }
}

extension Option {
    package static let out = value(
        "out", "PATH", "The file, or the folder for it; -o for short. By default the current folder.",
        completes: .files)
}

extension String {
    /// Whether the text is a valid name of a Swift module.
    fileprivate var isModuleName: Bool {
        guard let first = unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }
}

/// The arguments that build systems pass to `momc` and `mapc`, as the arguments of `moult compile`.
enum CompilerArguments {
    /// The names of Apple's compilers that `moult compile` replaces.
    static let names: Set<String> = ["momc", "mapc"]

    /// Options whose value does not affect the compiled model.
    private static let ignoredValues: Set<String> = ["--sdkroot", "--swift-version", "--language"]
    private static let ignoredFlags: Set<String> = [
        "--print-diagnostic-categories", "--suppress-inverse-transient-error", "-MOMC_SUPPRESS_INVERSE_TRANSIENT_ERROR",
    ]
    /// The options that both tools have.
    private static let ownFlags: Set<String> = [
        "--dry-run", "--no-warnings", "--no-inverse-relationship-warnings", "--no-max-property-count-warnings",
        "--no-delete-rule-warnings", "--json",
    ]
    /// Other spellings of the flags, from build settings of older releases of Xcode.
    private static let otherFlags = [
        "-MOMC_NO_WARNINGS": "--no-warnings", "--mapc-no-warnings": "--no-warnings",
        "-MOMC_NO_INVERSE_RELATIONSHIP_WARNINGS": "--no-inverse-relationship-warnings",
        "-MOMC_NO_MAX_PROPERTY_COUNT_WARNINGS": "--no-max-property-count-warnings",
        "-MOMC_NO_DELETE_RULE_WARNINGS": "--no-delete-rule-warnings",
    ]

    /// - Throws: `usage` for an option that `momc` does not have, and if the source or the destination is missing.
    static func translated(_ arguments: [String], program: String) throws(MigrationError) -> [String] {
        if arguments == ["--version"] { return arguments }
        var result = ["compile"]
        var paths: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts.first ?? argument
            func value(_ rest: inout ArraySlice<String>) throws(MigrationError) -> String {
                if parts.count > 1 { return parts[1] }
                guard let next = rest.popFirst() else { throw wrong("\(name) needs a value.") }
                return next
            }
            if !argument.hasPrefix("-") {
                paths.append(argument)
            } else if ownFlags.contains(argument) {
                result.append(argument)
            } else if let flag = otherFlags[argument] {
                result.append(flag)
            } else if ignoredValues.contains(name) || name.hasSuffix("-deployment-target") {
                _ = try value(&rest)
            } else if name == "--module" {
                result += ["--module", try value(&rest)]
            } else if name == "--action" {
                let action = try value(&rest)
                guard ["compile", "generate"].contains(action) else {
                    throw wrong("\(program) has no action \(action).")
                }
                if action == "generate" { result[0] = "generate" }
            } else if !ignoredFlags.contains(argument), !argument.hasPrefix("-XD_MOMC_TARGET_VERSION=") {
                throw wrong("\(program) has no option \(name).")
            }
        }
        guard paths.count == 2 else { throw wrong("\(program) needs a source and a destination.") }
        if result[0] == "generate" {
            // Xcode's build makes the classes that the model requests; the compilation prints warnings.
            result = ["generate", "--codegen", "model"] + result.filter { $0 == "--dry-run" || $0 == "--json" }
        }
        return result + ["--out", paths[1], "--", paths[0]]
    }

    /// Returns the help that `momc --help` or `mapc --help` prints; nil for arguments that do not ask for it.
    static func help(_ arguments: [String], program: String, style: TextStyle) -> [String]? {
        guard arguments.contains("--help") || arguments.contains("-h") else { return nil }
        let source = program == "mapc" ? ".xcmappingmodel" : ".xcdatamodeld or .xcdatamodel"
        let product = program == "mapc" ? ".cdm" : ".momd or .mom"
        let rows = [
            ("--action ACTION", "compile (the default), or generate for the Swift classes that the model asks for."),
            ("--module NAME", "The Swift module of classes whose name begins with a dot."),
            ("--dry-run", "List the files; write nothing."), ("--no-warnings", "Print errors only."),
            ("--no-inverse-relationship-warnings", "Accept relationships without an inverse."),
            ("--no-max-property-count-warnings", "Accept entities with very many properties."),
            ("--no-delete-rule-warnings", "Accept the delete rule No Action."),
            ("--sdkroot PATH, --…-deployment-target VERSION", "Accepted; the product does not depend on them."),
            ("--swift-version N, --language NAME", "Accepted; the product does not depend on them."),
        ]
        return ["Compile a \(source), as Apple's \(program) does, with Moult.", ""]
            + ["\(style.bold("Usage:")) \(program) [options] SOURCE DESTINATION"]
            + Verb.section(
                "Arguments",
                [("SOURCE", "The \(source)."), ("DESTINATION", "The \(product), or the folder for it.")], style)
            + Verb.section("Options", rows, style)
    }

    private static func wrong(_ message: String) -> MigrationError {
        MigrationError(.usage, message, remedy: "See `\(Program.name) --help`.")
    }
}

extension Verb {
    static let decompile = Verb(
        "decompile", "Write a compiled model or mapping model, or a store's model, as a source that Xcode opens.",
        discussion: """
            A .momd becomes an .xcdatamodeld with all versions. A .mom, or the model inside a store, becomes an
            .xcdatamodel, or a bundle with one version if --out ends with .xcdatamodeld. The source lacks what a
            compiled model does not keep, such as code generation, scalar types and the layout of the diagram.
            A .cdm becomes an .xcmappingmodel. An .xcmappingmodel contains the source and the destination version of the
            model. A .cdm contains only the version hashes of these two. --model must therefore name a model that has
            both versions.
            """,
        operands: [compiled], options: [.out, .model, .order, replaces],
        examples: [
            "moult decompile forum.sqlite -o Forum.xcdatamodel", "moult decompile forum.sqlite -o Sources --json",
        ]
    ) { invocation, console in
        let path = try invocation.required(compiled)
        guard SourceReport.isMapping(path) else {
            return console.print(
                try SourceReport(
                    decompiling: path, to: invocation[value: .out], replacing: invocation[replaces], say: console.say))
        }
        guard path.hasSuffix(".cdm") else {
            throw MigrationError(
                .usage, "The mapping model is a source already.", place: path, remedy: "Give a compiled .cdm.")
        }
        guard let versions = try invocation.versionsIfKnown(console) else {
            throw invocation.wrong("A .cdm does not contain the models that its source needs. Give them with --model.")
        }
        return console.print(
            try SourceReport(
                decompilingMapping: path, to: invocation[value: .out], replacing: invocation[replaces],
                versions: versions, ofModelAt: invocation[value: .model], say: console.say))
    }

    private static let compiled = Operand("MODEL", "A .momd, a .mom, an .omo, a store, or a .cdm.")
    private static let replaces = Option.flag("replace", "Replace an existing source as a whole.")
}
