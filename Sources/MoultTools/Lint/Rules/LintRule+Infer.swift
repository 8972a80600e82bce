import MoultBasics
import MoultModel
import MoultPlan

extension LintRule {
    private static let headline = post(
        "<attribute name=\"headline\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>")
    private static let tag = "<entity name=\"Tag\"/>\n"
    private static func author(_ name: String, _ destination: String, optional: Bool = true) -> String {
        post(
            "<relationship name=\"\(name)\"\(optional ? " optional=\"YES\"" : "") maxCount=\"1\" "
                + "deletionRule=\"Nullify\" destinationEntity=\"\(destination)\"/>")
    }

    static let infer: [LintRule] = [
        LintRule(
            "INFER001", .error, "Renamed or new",
            meaning: """
                A property or an entity is added where a similar one is removed. Without a renaming identifier it counts \
                as new and starts empty, so its values would be lost if it was renamed. Moult asks; Core Data does not. \
                What only an answer decides is a warning: Core Data reads no answers.
                """,
            onDevice: "With Core Data: the values of the old property are gone after the migration.",
            remedy: "Set the renaming identifier (`elementID`) to the old name, or answer that it is new.",
            failing: LintExample(
                from: title, to: post("<attribute name=\"headline\" optional=\"YES\" attributeType=\"String\"/>")),
            corrected: LintExample(from: title, to: headline), check: .step(InferRules.renames)),
        LintRule(
            "INFER002", .error, "Ambiguous renaming identifier",
            meaning:
                "The renaming identifier of a property or an entity fits more than one thing of the version before.",
            onDevice: "With Core Data: the migration fails with error 134190, or one of the two is taken.",
            remedy: "Set the renaming identifier to the name in the version before, or answer which one it is.",
            failing: LintExample([
                .init("App", title),
                .init("App 2", headline),
                .init(
                    "App 3",
                    """
                    <entity name="Post">
                        <attribute name="headline" optional="YES" attributeType="String" elementID="title"/>
                        <attribute name="title" optional="YES" attributeType="String"/>
                    </entity>
                    """),
                .init(
                    "App 4",
                    post("<attribute name=\"name\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>")
                ),
            ]),
            corrected: LintExample([
                .init("App", title),
                .init("App 2", headline),
                .init(
                    "App 3",
                    post("<attribute name=\"name\" optional=\"YES\" attributeType=\"String\" elementID=\"headline\"/>")),
            ]), check: .step(InferRules.ambiguousIdentifiers)),
        LintRule(
            "INFER003", .error, "Type change that is not inferred",
            meaning: """
                The type of an attribute changes, and not every value of the old type has an equal value of the new \
                one. Moult infers a change only to a type that can hold every old value, such as Integer 32 to Integer \
                64.
                """,
            onDevice: "Moult refuses the migration. What happens to the values in Core Data depends on the two types.",
            remedy: """
                Keep the old attribute, add a new one of the new type, and fill it in a custom stage or a mapping model.
                """,
            failing: LintExample(
                from: post("<attribute name=\"rating\" optional=\"YES\" attributeType=\"String\"/>"),
                to: post("<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 32\"/>")),
            corrected: LintExample(
                from: post("<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 32\"/>"),
                to: post("<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 64\"/>")),
            check: .step(InferRules.types)),
        LintRule(
            "INFER004", .error, "Destination change that is not inferred",
            meaning: "A relationship leads to another entity, and not every old destination is one of that entity.",
            onDevice: "Moult refuses the migration. Core Data may drop the links.",
            remedy: "Keep the old relationship, add a new one, and fill it in a custom stage or a mapping model.",
            failing: LintExample(from: user + tag + author("source", "User"), to: user + tag + author("source", "Tag")),
            corrected: LintExample(
                from: user + tag + author("source", "User"), to: user + tag + author("source", "User")),
            check: .step(InferRules.destinations)),
        LintRule(
            "INFER005", .error, "Required attribute without a default value",
            meaning: """
                An attribute is new and required, or becomes required, and has no default value for the objects that \
                exist. An object without a required value cannot be saved. A value from an answer is a warning.
                """,
            onDevice: "The migration fails with error 134110 or 1570, the required value is missing.",
            remedy: "Give the attribute a default value, or make it optional.",
            failing: LintExample(
                from: "<entity name=\"Post\"/>", to: post("<attribute name=\"rating\" attributeType=\"Integer 16\"/>")),
            corrected: LintExample(
                from: "<entity name=\"Post\"/>",
                to: post("<attribute name=\"rating\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>")),
            check: .step(InferRules.missingDefaults)),
        LintRule(
            "INFER006", .error, "New required relationship",
            meaning:
                "A relationship is new and required. It has no default value, so the objects that exist have none.",
            onDevice:
                "The migration fails with error 134110 or 1580, the relationship lacks a minimum number of objects.",
            remedy: "Make the relationship optional, or fill it in a custom stage or a mapping model.",
            failing: LintExample(
                from: user + "<entity name=\"Post\"/>", to: user + author("author", "User", optional: false)),
            corrected: LintExample(from: user + "<entity name=\"Post\"/>", to: user + author("author", "User")),
            check: .step(InferRules.requiredRelationships)),
        LintRule(
            "INFER007", .error, "Merged hierarchies",
            meaning:
                "Entities of separate hierarchies come under one new parent. Their tables would have to be merged.",
            onDevice: "With Core Data: the migration fails with error 134190, hierarchies cannot be merged.",
            remedy: "Keep the hierarchies separate, or move one into the other.",
            failing: LintExample(
                from: "<entity name=\"Book\"/>\n<entity name=\"Film\"/>",
                to: """
                    <entity name="Item" isAbstract="YES"/>
                    <entity name="Book" parentEntity="Item"/>
                    <entity name="Film" parentEntity="Item"/>
                    """),
            corrected: LintExample(
                from: "<entity name=\"Book\"/>\n<entity name=\"Film\"/>",
                to: "<entity name=\"Book\"/>\n<entity name=\"Film\" parentEntity=\"Book\"/>"),
            check: .step(InferRules.hierarchies)),
        LintRule(
            "INFER008", .error, "Inverses that were not inverses",
            meaning: """
                Two relationships become each other's inverse and were not before. Each has links of its own, and the two \
                need not agree.
                """,
            onDevice: "The migration is refused.",
            remedy: "Give one of the two a new name, so that it starts empty and the other one fills it.",
            failing: LintExample(
                from: inverses(author: "", posts: ""),
                to: inverses(
                    author: "inverseName=\"posts\" inverseEntity=\"User\"",
                    posts: "inverseName=\"author\" inverseEntity=\"Post\"")),
            corrected: LintExample(
                from: inverses(author: "", posts: ""),
                to: inverses(
                    author: "inverseName=\"articles\" inverseEntity=\"User\"", posts: "",
                    other: """

                            <relationship name="articles" optional="YES" toMany="YES" deletionRule="Nullify" \
                        destinationEntity="Post" inverseName="author" inverseEntity="Post"/>
                        """)),
            check: .step(InferRules.inverses)),
        LintRule(
            "INFER009", .error, "Answer that fits no question",
            meaning: """
                A recorded answer names something that the versions do not have, or answers what is not asked. If it has \
                no effect, the finding is a warning.
                """,
            onDevice: "Core Data reads no answers; Moult refuses the migration.",
            remedy: "Remove the answer, or correct it.",
            failing: LintExample(
                from: title, to: headline, answers: [Answer(from: "App", to: "App 2", entity: "Note", is: .new)]),
            corrected: LintExample(from: title, to: headline), check: .model(InferRules.unfitting)),
    ]

    private static func inverses(author: String, posts: String, other: String = "") -> String {
        func facts(_ text: String) -> String { text.isEmpty ? "" : " " + text }
        return """
            <entity name="Post">
                <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="User"\(facts(author))/>
            </entity>
            <entity name="User">
                <relationship name="posts" optional="YES" toMany="YES" deletionRule="Nullify" \
            destinationEntity="Post"\(facts(posts))/>\(other)
            </entity>
            """
    }
}

/// The rules about changes that the planner does not infer. They decide nothing themselves: each finding is a question
/// or a refusal of the plan.
enum InferRules {
    static func renames(_ step: LintStep) -> [LintMatch] {
        questions(step, "INFER001") { question in
            let names = question.candidates.map(\.name)
            return .init(
                ("elementID", names.first ?? ""),
                choice: "Moult does not guess whether it is new or the renamed \(names.joined(separator: " or ")). "
                    + "The finding says how to decide.")
        } + answeredRenames(step) + answeredReturns(step)
    }

    static func ambiguousIdentifiers(_ step: LintStep) -> [LintMatch] { questions(step, "INFER002") }

    static func types(_ step: LintStep) -> [LintMatch] {
        questions(step, "INFER003") + refusals(step, "INFER003") + answeredDrops(step, "INFER003")
    }

    static func destinations(_ step: LintStep) -> [LintMatch] {
        questions(step, "INFER004") + refusals(step, "INFER004") + answeredDrops(step, "INFER004")
    }

    static func missingDefaults(_ step: LintStep) -> [LintMatch] {
        // The answer to a question decides whether a default value is needed.
        let asked = Set(step.inferred.questions.map(\.place))
        return refusals(step, "INFER005").filter { !asked.contains($0.place) }.map { match in
            var match = match
            let attribute = match.entity.flatMap { step.newer.model.entity($0) }
                .flatMap { entity in match.member.flatMap { step.newer.model.attribute($0, of: entity) } }
            let example = attribute.flatMap { DefaultExample(for: $0) }
            match.edit = example.map { .init(($0.name, $0.value)) } ?? .init(("optional", "YES"))
            return match
        } + answeredValues(step)
    }

    static func requiredRelationships(_ step: LintStep) -> [LintMatch] {
        refusals(step, "INFER006").map { match in
            var match = match
            match.edit = .init(("optional", "YES"))
            return match
        }
    }

    static func hierarchies(_ step: LintStep) -> [LintMatch] { refusals(step, "INFER007") }

    static func inverses(_ step: LintStep) -> [LintMatch] { refusals(step, "INFER008") }

    // MARK: Questions and refusals

    /// Returns matches for the questions that a rule covers.
    private static func questions(
        _ step: LintStep, _ rule: String, edit: (Question) -> LintMatch.Edit? = { _ in nil }
    ) -> [LintMatch] {
        guard !step.isRegistered else { return [] }
        return step.inferred.questions.map { $0.bound(to: step.older, step.newer) }.compactMap { question in
            let finding = question.finding
            guard finding.rule == rule else { return nil }
            return LintMatch(
                step.newer.name, question.entity, question.property, "\(step.words): \(question.statement)",
                remedy: finding.advice, edit: edit(question))
        }
    }

    /// Returns matches for the refusals that a rule covers.
    private static func refusals(_ step: LintStep, _ rule: String) -> [LintMatch] {
        guard !step.isRegistered else { return [] }
        return step.inferred.refusals.map(\.finding).filter { $0.rule == rule }.map { finding in
            let (entity, member) = LintMatch.parts(of: finding.place)
            return LintMatch(
                step.newer.name, entity, member, "\(step.words): \(finding.message)", remedy: finding.advice)
        }
    }
}

extension LintStep {
    /// The names of both versions, such as `App to App 2`.
    var words: String { "\(older.name) to \(newer.name)" }
}
