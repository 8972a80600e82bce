import MoultModel
import MoultReport

/// The arguments that build systems pass to `momc` and `mapc`, as the arguments of `moult compile`.
enum CompilerArguments {
    /// The names of Apple's compilers for which `moult compile` stands in.
    static let names: Set<String> = ["momc", "mapc"]

    /// Options whose value says nothing about the compiled model.
    private static let ignoredValues: Set<String> = ["--sdkroot", "--swift-version", "--language"]
    private static let ignoredFlags: Set<String> = [
        "--print-diagnostic-categories", "--suppress-inverse-transient-error", "-MOMC_SUPPRESS_INVERSE_TRANSIENT_ERROR",
    ]
    /// The options that both have.
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

    /// - Throws: `usage` for an option that `momc` does not have, and without a source and a destination.
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
            // Xcode's build makes the classes that the model asks for; warnings are the compilation's.
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
            ("--dry-run", "List the files; write nothing."),
            ("--no-warnings", "Print errors only."),
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
        MigrationError(.usage, message, remedy: "See \(Program.name) --help.")
    }
}
