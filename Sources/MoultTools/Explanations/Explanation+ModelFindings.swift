import Moult
import MoultBasics

extension Explanation {
    /// The findings about models, their lock files and mapping models.
    static let modelFindings: [Explanation] = files + frozen + tags + elements + locks + mappings

    private static let compileAgain: Remedy = "Compile the bundle again: \(.compile, .anyModel)."

    private static let files: [Explanation] = [
        Explanation(
            "current-version-missing", .model, "The bundle does not say which version is current, or says it wrong.",
            "Core Data and Moult would not agree about the newest version.",
            "Choose the current version in Xcode, or correct .xccurrentversion."),
        Explanation(
            "version-without-contents", .model, "The folder of a version has no contents, and is left out.",
            "Its stores are of no known version.", "Restore the file contents, or remove the folder."),
        Explanation(
            "version-list-not-read", .model, "VersionInfo.plist cannot be read.",
            "The hashes in it are not compared with the models.", compileAgain),
        Explanation(
            "version-not-listed", .model, "VersionInfo.plist does not name a version whose .mom is in the bundle.",
            "Core Data may not find it.", compileAgain),
        Explanation(
            "listed-version-missing", .model, "VersionInfo.plist names a version whose .mom is not in the bundle.",
            "Stores of that version cannot be migrated.", "Add the file, or compile the bundle again."),
        Explanation(
            "listed-hash-differs", .model, "VersionInfo.plist has other hashes than the .mom.",
            "The .mom was replaced after the list was made.", compileAgain),
        Explanation(
            "optimised-model-alone", .model, "An optimised model (.omo) has no .mom next to it.",
            "The optimised form leaves out parts of the model.", "Add the .mom, which the compiler writes next to it."),
        Explanation(
            "optimised-model-differs", .model, "An optimised model (.omo) differs from the .mom next to it.",
            "Core Data may load the one where Moult reads the other.", compileAgain),
        Explanation(
            "optimised-model-read", .model, "The .mom cannot be read; the optimised model is read in its place.",
            "The optimised form leaves out parts of the model.", compileAgain),
        Explanation(
            "index-ignored", .model, "A compiled model marks a property as indexed and has no fetch index for it.",
            "Core Data makes no index for it either.", "Add a fetch index if searches need one."),
    ]

    private static let frozen: [Explanation] = [
        Explanation(
            "frozen-store-without-model", .model, "A store in a folder of stores contains no model.",
            "Its version is not among those of the folder.", "Add the version from the model that made the store."),
        Explanation(
            "frozen-store-not-read", .model, "A file in a folder of stores is no store, or cannot be read.",
            "It is left out, and so is its version.", "Replace it by a sound copy, or remove it."),
    ]

    private static let tags: [Explanation] = [
        Explanation(
            "tag-not-read", .model, "A tag leads to no commit, or a version of the model at a tag cannot be read.",
            "The shape that its app released is not known.",
            "Fetch the tag. If the version is damaged at the tag, add it to the model by hand."),
        Explanation(
            "history-shallow", .model, "The clone lacks a part of the history.",
            "Tags may be missing, and with them the shapes that only they have.",
            "Fetch the whole history: `git fetch --unshallow --tags`."),
        Explanation(
            "store-of-no-tag", .model, "A store has a shape that neither a tag nor a version has.",
            "No version that is added from the tags describes it.",
            "Fetch all tags. \(.decompile, .store("STORE")) writes the model inside the store as a source."),
        Explanation(
            "store-not-matched", .model, "A file among the stores cannot be read.", "Its tags are not known.",
            "\(.diagnose, .anyStore) says what is wrong with it."),
        Explanation(
            "way-not-found", .model, "With the missing versions, a migration to the current version is refused.",
            "Their stores could not be migrated.",
            "Answer the questions with \(.answer, .anyModel), or write a mapping model."),
    ]

    private static let elements: [Explanation] = [
        Explanation(
            "unknown-element", .model, "A part of a model or a mapping is not known, and is left out.",
            "If the part matters, the version hash or the migration is wrong.",
            "Check whether the part that the message names matters for this store."),
        Explanation(
            "unknown-markup", .model, "An XML element or attribute is not known, and was not read.",
            "It may be of a newer Xcode.", "Look whether it matters for stores; most are about the editor."),
        Explanation(
            "unknown-member", .model, "A member of a model in JSON is not known, and was not read.",
            "A misspelt member has no effect.", "Correct or remove it."),
        Explanation(
            "default-not-read", .model, "A default value is not a value of the attribute's type.",
            "The attribute is read without one.", "Correct the default value or the type."),
        Explanation(
            "switch-not-read", .model, "A switch is neither YES nor NO.", "It is read as NO.", "Write YES or NO."),
        Explanation(
            "count-not-read", .model, "A count is not a number.", "It is not read.",
            "Write a whole number, or remove it."),
        Explanation(
            "counts-contradict", .model, "minCount and maxCount contradict each other.",
            "No object could satisfy both.", "Correct one of them; a maxCount of 0 is no limit."),
        Explanation(
            "delete-rule-not-read", .model, "A deletion rule is not one of Core Data's.", "It is read as Nullify.",
            "Write Nullify, Cascade, Deny or No Action."),
        Explanation(
            "fetch-request-not-read", .model, "A fetch request has no name or no entity.", "It is not read.",
            "Give it both, or remove it."),
        Explanation(
            "index-not-read", .model, "A fetch index contains an expression that cannot be read.",
            "The index is left out.", "Correct the expression."),
        Explanation(
            "inverse-entity-not-read", .model, "The entity of an inverse is not the relationship's destination.",
            "It is not read; the inverse is looked for in the destination.", "Correct inverseEntity."),
        Explanation(
            "user-info-not-read", .model, "An entry of the user info has no key.", "It is not read.",
            "Give it the attribute key."),
    ]

    private static let locks: [Explanation] = [
        Explanation(
            "model-not-locked", .model, "There is no lock file, or it has no entry for this model.",
            "An edit of a released version would not be noticed.",
            "\(.lock, .anyModel) when its versions are released."),
        Explanation(
            "version-not-locked", .model, "A version is not in the lock file.",
            "An edit of it would not be noticed.", "\(.lock, .anyModel) when it is released."),
        Explanation(
            "version-with-errors", .model, "Lint finds errors in a version that would be locked for the first time.",
            "Once it is locked, they could no longer be corrected, and would not be reported.",
            "Correct what \(.lint, .anyModel) finds, or make an exception."),
        Explanation(
            "current-version-not-locked", .model, "The current version is another one than the lock file has.",
            "A release with it is not recorded.", "\(.lock, .anyModel) when the version is released."),
        Explanation(
            "released-version-missing", .model, "A released version is missing from the model.",
            "Stores of that version cannot be migrated.", "Restore the version, for example from git."),
        Explanation(
            "released-version-changed", .model, "A released version has other version hashes now.",
            "Stores of that version match no version of the model any more.",
            "Undo the edit. Add a new version and make the change there."),
        Explanation(
            "released-version-changed-unhashed", .model, "A released version was edited outside its version hash.",
            "Stores still open, but what the model says of them is not what was released.",
            "Undo the edit, or lock the version again with \(.lock, .anyModel)."),
    ]

    private static let mappings: [Explanation] = [
        Explanation(
            "mapping-abstract-entity", .mapping, "An entity mapping is for an abstract entity.",
            "An abstract entity has no objects of its own.", "Map each of its sub-entities."),
        Explanation(
            "mapping-by-policy", .mapping, "A required property has no expression.", "The policy has to set it.",
            "Set it in the policy."),
        Explanation(
            "mapping-converts", .mapping, "A value is converted to another type.",
            "Values that have no equal are counted before anything is changed.", "There is nothing to do."),
        Explanation(
            "mapping-default", .mapping, "A property has no source, and starts with its default or empty.",
            "The old values, if there are any, are not carried over.", "Give it an expression if they should be."),
        Explanation(
            "mapping-drops-entity", .mapping, "No mapping takes the objects of an entity.", "They are dropped.",
            "Add an entity mapping for it, or one of type remove."),
        Explanation(
            "mapping-empty-entity", .mapping, "No mapping makes objects of an entity.", "It starts empty.",
            "Add an entity mapping if it should not."),
        Explanation(
            "mapping-inverse", .mapping, "A relationship is filled by its inverse.", "It needs no expression.",
            "There is nothing to do."),
        Explanation(
            "mapping-may-be-nil", .mapping, "A required attribute has a source that may have no value.",
            "Rows without a value would be refused.",
            "Give a default value in a policy. The rows are checked before anything is changed."),
        Explanation(
            "mapping-name-twice", .mapping, "Two entity mappings have the same name.",
            "An expression could mean either.", "Rename one of them."),
        Explanation(
            "mapping-nested-call", .mapping, "A function is called inside another expression.",
            "An entity mapping with a policy cannot do that.",
            "Call it alone and do the rest in the function, or set the attribute in the policy."),
        Explanation(
            "mapping-type", .mapping, "The type of a source does not fit the attribute.",
            "The value cannot be stored.", "Convert the value in a closure or a migration policy."),
        Explanation(
            "mapping-unknown-entity", .mapping, "A mapping names an entity that the model does not have.",
            "It belongs to another version, or is misspelt.",
            "Correct the name, or give the version that the mapping was made for."),
        Explanation(
            "mapping-unknown-mapping", .mapping, "An expression names an entity mapping that does not exist.",
            "The relationship could not be filled.", "Correct the name of the mapping."),
        Explanation(
            "mapping-unknown-property", .mapping, "A mapping names a property that the entity does not have.",
            "The value would be lost.", "Correct the name."),
        Explanation(
            "mapping-unknown-selector", .mapping, "An expression calls a method that the migration manager lacks.",
            "The value cannot be computed.",
            "Use destinationInstancesForEntityMappingNamed:sourceInstances:, or a migration policy."),
        Explanation(
            "mapping-unknown-source", .mapping, "A key path leads to a property that the source does not have.",
            "The value cannot be read.", "Correct the key path."),
        Explanation(
            "mapping-without-value", .mapping, "A required property gets no value.", "No object could be saved.",
            "Give it a value expression or a default value, or make it optional."),
    ]
}
