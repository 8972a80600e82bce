import Moult
import MoultBasics
import MoultEngine

extension Explanation {
    /// The findings about the rows of a store.
    static let rowFindings: [Explanation] = [
        Explanation(
            "stranger", .store, "Rows belong to no entity of their table.",
            "Core Data does not read them, or fails when a relationship leads to them.",
            "\(.repair, .anyStore, .only(["numbers"])) gives them the number of an entity, or moves them to the "
                + "quarantine."),
        Explanation(
            "dangling-reference", .store, "Objects refer to objects that are not there.",
            "The app meets a fault that cannot be fulfilled, and may crash.",
            "\(.repair, .anyStore, .only(["dangling"])) clears these references."),
        Explanation(
            "inverse-disagrees", .store, "An object refers to another one that does not refer back.",
            "The app sees the relationship from one side only.",
            "\(.repair, .anyStore, .only(["inverses"])) makes the two sides agree."),
        Explanation(
            "inverse-one-sided", .store, "The inverse of a one-to-one relationship is empty in every row.",
            "The app has never written it; some apps of Apple do the same.",
            "There is nothing to do. \(.repair, .anyStore, .only(["one-sided"])) sets the inverse."),
        Explanation(
            "pair-one-sided", .store, "Pairs of a relationship that is its own inverse are stored in one direction.",
            "Core Data reads them from that end alone.",
            "Set the relationship of these objects again in the app to have both directions."),
        Explanation(
            "pair-repeated", .store, "A join table holds a pair more than once.",
            "Core Data reads it once, but a derived count includes all.",
            "\(.repair, .anyStore, .only(["duplicates"])) keeps the first row of each."),
        Explanation(
            "required-missing", .store, "Objects have no value for a property that is required.",
            "The next save of such an object fails in the app, and so does a migration.",
            "Give them a value in the app, or a default value by an answer: \(.answer, .anyModel)."),
        Explanation(
            "not-unique", .store, "A value that a uniqueness constraint allows once occurs more than once.",
            "A migration cannot create the unique index, and a merge policy may delete objects.",
            "Merge or change the objects that share a value. \(.repair, .anyStore, .only(["duplicates"])) keeps the "
                + "first of them, and moves the others to the quarantine."),
        Explanation(
            "value-unreadable", .store, "Values cannot be read as the type of their attribute.",
            "The app reads something else, or nothing.",
            "\(.validate, .anyStore, .values) prints them. Correct them in the app."),
        Explanation(
            "enum-without-case", .store, "Values of an enum have no case that the type knows.",
            "SwiftData fails when it reads the object.",
            "Set the attribute of these objects in the app. \(.validate, .anyStore, .values) prints what is stored."),
        Explanation(
            "entity-number", .store, "Z_PRIMARYKEY lacks the number of an entity, or has a wrong one.",
            "The objects of the entity cannot be read.",
            "\(.repair, .anyStore, .only(["tables"])) sets it."),
        Explanation(
            "key-counter", .store, "The counter of an entity's keys is lower than a key in use.",
            "The next object would get a key that is taken, and the save fails.",
            "\(.repair, .anyStore, .only(["key-counters"])) sets it. A migration corrects it too."),
        Explanation(
            "history-change", .store, "Changes of persistent history belong to no transaction or to no object.",
            "No app sees them.", "\(.repair, .anyStore, .only(["history"])) removes them."),
        Explanation(
            "history-text", .store, "A transaction of persistent history refers to a missing text.",
            "Its author or context is unknown.",
            "\(.repair, .anyStore, .only(["history"])) clears these references."),
        Explanation(
            "reference-cycle", .store, "Objects are their own ancestors.",
            "Code that walks to the root never ends. An app may want such cycles.",
            "\(.repair, .anyStore, .only(["cycles"])) cuts one link of each."),
        Explanation(
            "derived-count", .store, "A derived count is not the number of the related objects.",
            "The app shows a wrong number.", "\(.repair, .anyStore, .only(["counts"])) counts again."),
        Explanation(
            "derived-not-kept", .store, "A derived attribute is not kept up to date by Moult.",
            "Its expression needs a function that only Core Data has. The stored value stays as it is.",
            "Core Data computes it when it next saves the object."),
    ]

    /// The faults that a repair can fix, as `doctor` names them.
    static let repairFindings: [Explanation] = RepairRule.allCases.map { rule in
        Explanation(
            "rows-\(rule.rawValue)", .doctor,
            "Rows are at fault, which the rule \(rule.rawValue) of a repair can fix.",
            "\(rule.remedy) That is what a repair does.",
            "\(.repair, .anyStore, .only([rule.rawValue]), .dryRun) shows the rows and what would be done.")
    }
}
