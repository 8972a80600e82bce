extension LintRule {
    private static func item(_ attributes: String..., class name: String = "Post") -> String {
        let lines = attributes.map { "\n    <attribute \($0)/>" }.joined()
        return "<entity name=\"Post\" representedClassName=\"\(name)\">\(lines)\n</entity>"
    }
    private static let rating = "name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\""
    private static let scalar = rating + " usesScalarValueType=\"YES\""
    /// An attribute of the second version, without which the two versions would have equal hashes.
    private static let note = "name=\"note\" optional=\"YES\" attributeType=\"String\""

    static let code: [LintRule] = [
        LintRule(
            "CODE001", .note, "Class name changed",
            meaning: """
                The class of an entity changes. The version hash leaves the class out, so only the source shows the \
                change.
                """,
            onDevice: "The app crashes at a cast if the class is missing.",
            remedy: "Rename the class in the source in the same commit.",
            failing: LintExample(from: item(rating), to: item(rating, note, class: "Article")),
            corrected: LintExample(from: item(rating), to: item(rating, note)), check: .step(ChangeRules.className)),
        LintRule(
            "CODE002", .note, "Renamed",
            meaning: """
                An entity or a property is renamed. Its data is kept, but a name that is text in the source, as in a \
                predicate, is not checked by the compiler.
                """,
            onDevice: "The app crashes when it evaluates a predicate with the old name.",
            remedy: "Replace the old name in the source, also in predicates, sort descriptors and key paths.",
            failing: LintExample(
                from: item(rating),
                to: item("name=\"stars\" optional=\"YES\" attributeType=\"Integer 16\" elementID=\"rating\"")),
            corrected: LintExample(from: item(rating), to: item(rating, note)), check: .step(ChangeRules.renamed)),
        LintRule(
            "CODE003", .note, "Swift type changed",
            meaning: """
                The type of a property in Swift changes: its attribute type, its use of a scalar, its class, or a \
                relationship between one object, a set and an ordered set.
                """,
            onDevice: "A class that was not generated again reads the wrong type.",
            remedy: "Generate the class again, or correct the type of the property.",
            failing: LintExample(from: item(rating), to: item(scalar, note)),
            corrected: LintExample(from: item(scalar), to: item(scalar, note)),
            check: .step(ChangeRules.swiftType)),
        LintRule(
            "CODE004", .note, "Optionality changed",
            meaning: """
                A property becomes optional, or required. A class written by hand still has the old declaration, and \
                the compiler does not compare it with the model.
                """,
            onDevice:
                "The app crashes when it reads nil from a property that is not declared optional, or cannot save.",
            remedy: "Correct the declaration, and the source that reads or sets the property.",
            failing: LintExample(
                from: item("name=\"rating\" attributeType=\"Integer 16\" defaultValueString=\"0\""), to: item(rating)),
            corrected: LintExample(from: item(rating), to: item(rating, note)),
            check: .step(ChangeRules.optionality)),
    ]
}
