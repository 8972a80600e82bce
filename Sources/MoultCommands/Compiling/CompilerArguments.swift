import MoultModel

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
        "--no-delete-rule-warnings", "--help", "-h", "--json",
    ]
    /// How build settings of older releases of Xcode spell them.
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
                try check(action: try value(&rest), program: program)
            } else if !ignoredFlags.contains(argument), !argument.hasPrefix("-XD_MOMC_TARGET_VERSION=") {
                throw wrong("\(program) has no option \(name).")
            }
        }
        if result.contains("--help") || result.contains("-h") { return result }
        guard paths.count == 2 else { throw wrong("\(program) needs a source and a destination.") }
        return result + ["--out", paths[1], "--", paths[0]]
    }

    private static func check(action: String, program: String) throws(MigrationError) {
        guard action != "compile" else { return }
        throw MigrationError(
            .unsupported, "\(program) was asked to \(action), and Moult only compiles models.", place: "--action",
            remedy: "Choose manual code generation for the model's entities.")
    }

    private static func wrong(_ message: String) -> MigrationError {
        MigrationError(.usage, message, remedy: "moult compile --help lists the options.")
    }
}
