import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let cloudKit = Verb(
        "cloudkit", "Print the CloudKit schema that a model needs, and compare it with the one in Production.",
        discussion: """
            The Production environment of CloudKit takes only the record types and fields that somebody deployed. What
            it lacks is not synchronised. These verbs read and write schemas as the CloudKit console and cktool do
            (.ckdb); they connect to no server.
            MODEL is best the source (.xcdatamodeld): a compiled model or a store does not say which attributes are
            encrypted. For SwiftData's types, build a tool of the app's own, which needs no MODEL, or name a store.
            """,
        subverbs: [cloudKitSchema, cloudKitCheck, cloudKitDiff])

    private static let cloudKitSchema = Verb(
        "schema", "Print the schema that mirroring a version needs, as the framework initialises it.",
        discussion: """
            The text has the order and the columns of an export, so that the two can be compared line by line. Its
            fields have the indexes and its types the grants that the server gives them. What no known export confirms
            is named on standard error.
            An import replaces the schema of Development, and leaving out a type or field asks for its removal. --merge
            keeps everything in a schema of Production: types and fields of earlier models, and those of the app's own.
            Exits with 1 if that schema has a field with another type or encryption than the model needs; the text
            keeps the field as it is. A model that no schema can hold is refused. If the model does not say which
            attributes are encrypted, or which of its configurations is mirrored, a comment at the top says so.
            """,
        operands: [.model], options: [version, configuration, merge, sharing, .printed, .order],
        examples: [
            "moult cloudkit schema Forum.xcdatamodeld -o Forum.ckdb",
            "moult cloudkit schema Forum.xcdatamodeld --version \"Forum 2\"",
        ]
    ) { invocation, console in
        let version = try invocation.operandBundle(console).version(named: invocation[value: version])
        let merged = invocation[value: merge]
        let report = try CloudKitSchemaReport(
            version, configuration: invocation.mirroredConfiguration, isShared: invocation[sharing], merging: merged)
        report.notes.forEach(console.say)
        if merged == nil, let known = invocation.configuration?.cloudKitSchema {
            console.say(
                "\(invocation.configuration?.path ?? "") names \(known) as the schema of Production. Before an import, "
                    + "merge it: --\(merge.name) \(known.shellQuoted).")
        }
        console.print(report, wraps: false)
        return report.impossible.isEmpty ? .done : .findings
    }

    private static let cloudKitCheck = Verb(
        "check", "Say what has to be deployed to CloudKit before a release, and what can never be.",
        discussion: """
            Compares what mirroring the model's current version needs with the schema in Production, which the CloudKit
            console saves. Names, types and encryption count; indexes, grants and order do not. Types that are not Core
            Data's are the app's own. The rules are those of lint about models that Core Data refuses to mirror (SYNC001
            to SYNC008, SYNC011), and SYNC012 to SYNC016, which lint applies too if moult.json names the schema. With
            --since, the findings say which gaps the released model has too.
            Exits with 0, or with 1 if something has to be deployed or is impossible; notes do not count.
            """,
        operands: [.model], options: [production, configuration, since, .lintFormat, .printed, .order],
        examples: ["moult cloudkit check Forum.xcdatamodeld --schema Forum.ckdb"]
    ) { invocation, console in
        var request = invocation.configuredLint
        guard let path = invocation[value: production] ?? request.schema?.path else {
            throw Invocation.missing(production, invocation.path)
        }
        request.limitToCloudKit(schema: path, configuration: invocation.mirroredConfiguration)
        request.revision = invocation[value: since]
        let form = try invocation.lintForm(console)
        let bundle = try invocation.operandBundle(console)
        guard try request.revision == nil || invocation[Operand.model] != nil && !bundle.isInsideStore else {
            throw invocation.wrong("--since needs MODEL, the path of a model in a git repository.")
        }
        let result = try LintResult(request, ofModelsAt: [invocation[Operand.model]], invocation.registry) { _ in
            LintedModels(bundle, ModelVersions(bundle), answers: .none, mappings: [])
        }
        try console.print(result, as: form)
        return result.has(atLeast: .warning) ? .findings : .done
    }

    private static let cloudKitDiff = Verb(
        "diff", "Say in words what to deploy between two schemas, or two versions of a model.",
        discussion: """
            OLD and NEW are two schemas (.ckdb), or versions of a model in any form that moult diff takes. Exits with 0;
            with --check, 1 if anything differs.
            """,
        operands: [ofModel, old, new],
        options: [.model, fromOld, toNew, configuration, .checking("anything differs"), .order],
        examples: [
            "moult cloudkit diff Forum.xcdatamodeld Forum \"Forum 3\"",
            "moult cloudkit diff Forum.ckdb Forum.ckdb",
        ]
    ) { invocation, console in
        let report = try invocation.cloudKitDifference(console)
        console.print(report)
        return invocation[.check] && !report.isEmpty ? .findings : .done
    }

    fileprivate static let configuration = Option.value(
        "configuration", "NAME",
        "The configuration that is mirrored; by default those that the model marks for CloudKit, or all entities.")
    private static let merge = Option.value(
        "merge", "FILE", "The schema of Production, of which everything is kept; - for standard input.",
        completes: .files)
    private static let sharing = Option.flag(
        "sharing", "Add the record type of shares, which the server otherwise makes with the first share.")
    private static let production = Option.value(
        "schema", "FILE", "The schema of Production, - for standard input; by default the one that moult.json names.",
        completes: .files)
    private static let since = Option.value(
        "since", "REV", "Compare with the model at the merge base of this git revision and HEAD too.")
}

extension Invocation {
    /// The configuration that is mirrored, if it is not the one that the model marks.
    fileprivate var mirroredConfiguration: String? {
        self[value: Verb.configuration] ?? configuration?.cloudKitConfiguration
    }

    /// Compares two schemas, or those of two versions.
    fileprivate func cloudKitDifference(_ console: Console) throws -> CloudKitDifference {
        let words = [Verb.ofModel, Verb.old, Verb.new].compactMap { self[$0] }
        let files = words.filter { $0.lowercased().hasSuffix(".ckdb") }
        guard !files.isEmpty else {
            let compared = try Compared(self, console)
            return try CloudKitDifference(
                from: compared.older, to: compared.newer, configuration: mirroredConfiguration)
        }
        guard files.count == 2, words.count == 2 else {
            let advice = "`\(Program.name) cloudkit check` compares a model with a schema."
            throw wrong("\(Program.name) \(path) compares two schemas, or two versions of a model. \(advice)")
        }
        return try CloudKitDifference(from: files[0], to: files[1])
    }
}
