extension LintRule {
    private static let postWithBody = """
        <entity name="Post">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="body" optional="YES" attributeType="String"/>
        </entity>
        """
    private static let postWithTags = """
        <entity name="Post">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="body" optional="YES" attributeType="String"/>
            <attribute name="tags" optional="YES" attributeType="String"/>
        </entity>
        """
    private static let v1 = LintExample.Version("App", title)
    private static let v2 = LintExample.Version("App 2", postWithBody)
    private static let v3 = LintExample.Version("App 3", postWithTags)

    static let open: [LintRule] = [
        LintRule(
            "OPEN001", .error, "Released version edited",
            meaning: """
                A version that was released has other version hashes now. Core Data recognises a store by these hashes, \
                so a store of the released version fits no version of the model any more.
                """,
            onDevice: "The store does not open: error 134130, the source model cannot be found.",
            remedy: "Undo the edit. Add a new version and make the change there.",
            failing: LintExample([.init("App", postWithBody)], released: [v1]),
            corrected: LintExample([v1, v2], released: [v1]), check: .release(OpenRules.edited)),
        LintRule(
            "OPEN002", .error, "Released version deleted",
            meaning: """
                A version that was released is no longer in the model, under any name. The migration of a store of that \
                version begins with it. A lock file that only the revision has is reported too.
                """,
            onDevice: "The store does not open: error 134130, the source model cannot be found.",
            remedy: "Restore the version, and keep it for as long as a store of it may exist.",
            failing: LintExample([v2], released: [v1]), corrected: LintExample([v1, v2], released: [v1]),
            check: .release(OpenRules.deleted)),
        LintRule(
            "OPEN003", .warning, "Last version not current",
            meaning: """
                The bundle has a version after its current one. New stores are made with the current version, so the last \
                one is not used.
                """,
            onDevice: "The app runs with the old model. Code that uses a new property fails.",
            remedy: """
                If the last version is the newest, make it the current one. Versions are in the natural order of their \
                names: if one was renamed, give it its name back, or give the order with --order.
                """,
            failing: LintExample([v1, v2], current: "App"), corrected: LintExample([v1, v2], current: "App 2"),
            check: .model(OpenRules.notCurrent)),
        LintRule(
            "OPEN004", .error, "Current version moved back",
            meaning: """
                The current version comes before the one that was current when the app was released. A store of the later \
                version is ahead of the model, and nothing migrates it back.
                """,
            onDevice: "The store does not open: error 134100, the model is not compatible with the store.",
            remedy: "Make the later version the current one again, or add a new version after it.",
            failing: LintExample([v1, v2], current: "App", released: [v1, v2], releasedCurrent: "App 2"),
            corrected: LintExample([v1, v2], current: "App 2", released: [v1, v2], releasedCurrent: "App 2"),
            check: .release(OpenRules.movedBack)),
        LintRule(
            "OPEN005", .error, "New version before a released one",
            meaning: """
                A new version comes before a version that was released. Migrations go forward only, so a store of the \
                released version never reaches the new one.
                """,
            onDevice: "The store is not migrated to the new version, or the migration is refused.",
            remedy: "Give the new version a name that sorts last, or record the order in the lock file.",
            failing: LintExample([v1, .init("App 1b", postWithTags), v2], released: [v1, v2]),
            corrected: LintExample([v1, v2, v3], released: [v1, v2]), check: .release(OpenRules.outOfOrder)),
        LintRule(
            "OPEN006", .warning, "Released version edited outside its hash",
            meaning: """
                A released version differs in something that the version hash leaves out, such as an index, a default \
                value, a delete rule or a class name. Its stores still open, and no migration applies the edit to them.
                """,
            onDevice: "Stores that exist have no new index; objects in them keep their values.",
            remedy: "Make the edit in a new version if it has to reach every store.",
            failing: LintExample(
                [
                    .init(
                        "App",
                        """
                        <entity name="Post">
                            <attribute name="title" optional="YES" attributeType="String" defaultValueString="Untitled"/>
                        </entity>
                        """)
                ], released: [v1]),
            corrected: LintExample([v1, v2], released: [v1]), check: .release(OpenRules.editedUnhashed)),
        LintRule(
            "OPEN007", .warning, "Versions with equal hashes",
            meaning: """
                Two versions have equal version hashes. Core Data cannot tell them apart: a store of one opens with the \
                other, and no migration and no custom stage runs between them.
                """,
            onDevice: "Code that was to run between the versions does not run.",
            remedy: """
                Remove one of the versions. If data has to change between them, set a hash modifier in the newer one.
                """,
            failing: LintExample([v1, .init("App 2", title)]), corrected: LintExample([v1, v2]),
            check: .model(OpenRules.equalHashes)),
        LintRule(
            "OPEN008", .error, "Current version missing",
            meaning: """
                The bundle names a current version that it does not have, its `.xccurrentversion` cannot be read, or it has \
                no such file any more although it had one when it was released.
                """,
            onDevice: "The compiled model uses a different version from the one that you intended.",
            remedy: "Choose the current version in Xcode again.",
            failing: LintExample([v1, v2], current: "App 3"), corrected: LintExample([v1, v2], current: "App 2"),
            check: .model(OpenRules.currentMissing)),
        LintRule(
            "OPEN009", .error, "Version without a stage",
            meaning: """
                A SwiftData plan has two neighbouring versions and no stage between them. The rules about plans apply in \
                an app's own tool.
                """,
            onDevice: "The container does not open a store of the older version.",
            remedy: "Add a stage from each version to the next one.",
            failing: LintExample(
                swift: """
                    static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
                    static var stages: [MigrationStage] { [] }
                    """),
            corrected: LintExample(
                swift: """
                    static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
                    static var stages: [MigrationStage] {
                        [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)]
                    }
                    """), check: .plan),
        LintRule(
            "OPEN010", .warning, "Value type shared by versions",
            meaning: """
                Models of several versions have values of one `Codable` struct, or of one enum without raw values. The \
                version hash has every field and case, so an edit of the type changes all these versions.
                """,
            onDevice: "After an edit of the type, no store of a released version opens.",
            remedy: "Give each version a type of its own, inside its schema. An enum with raw values may be shared.",
            failing: LintExample(
                swift: """
                    struct Reminder: Codable { var hour = 9 }

                    enum AppV1: VersionedSchema {
                        static let versionIdentifier = Schema.Version(1, 0, 0)
                        static var models: [any PersistentModel.Type] { [Habit.self] }
                        @Model final class Habit {
                            var reminder = Reminder()
                            init() {}
                        }
                    }

                    enum AppV2: VersionedSchema {
                        static let versionIdentifier = Schema.Version(2, 0, 0)
                        static var models: [any PersistentModel.Type] { [Habit.self] }
                        @Model final class Habit {
                            var reminder = Reminder()
                            var name = ""
                            init() {}
                        }
                    }
                    """),
            corrected: LintExample(
                swift: """
                    enum AppV1: VersionedSchema {
                        static let versionIdentifier = Schema.Version(1, 0, 0)
                        static var models: [any PersistentModel.Type] { [Habit.self] }
                        struct Reminder: Codable { var hour = 9 }
                        @Model final class Habit {
                            var reminder = Reminder()
                            init() {}
                        }
                    }

                    enum AppV2: VersionedSchema {
                        static let versionIdentifier = Schema.Version(2, 0, 0)
                        static var models: [any PersistentModel.Type] { [Habit.self] }
                        struct Reminder: Codable { var hour = 9 }
                        @Model final class Habit {
                            var reminder = Reminder()
                            var name = ""
                            init() {}
                        }
                    }
                    """), check: .plan),
        LintRule(
            "OPEN011", .error, "Plan that does not fit its versions",
            meaning: """
                A SwiftData plan has a fault for which no store can be opened: a stage that skips a version or leads \
                back, two stages for one step, a version that is not among its schemas, two versions with one number, or a \
                model that is wrong.
                """,
            onDevice: "The container does not open the store.",
            remedy: "Correct the plan. `validate()` of the plan finds the same in a test.",
            failing: LintExample(
                swift: """
                    static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
                    static var stages: [MigrationStage] {
                        [
                            .lightweight(fromVersion: AppV1.self, toVersion: AppV2.self),
                            .lightweight(fromVersion: AppV1.self, toVersion: AppV2.self),
                        ]
                    }
                    """),
            corrected: LintExample(
                swift: """
                    static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
                    static var stages: [MigrationStage] {
                        [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)]
                    }
                    """), check: .plan),
        LintRule(
            "OPEN012", .warning, "No current version",
            meaning: """
                The bundle has several versions and no `.xccurrentversion`. Moult takes the newest; which one Xcode takes \
                is not documented.
                """,
            onDevice: "The app may run with an older version of the model.",
            remedy: "Choose the current version in Xcode, and commit `.xccurrentversion`.",
            failing: LintExample([v1, v2], isMarked: false), corrected: LintExample([v1, v2], current: "App 2"),
            check: .model(OpenRules.currentUnnamed)),
        LintRule(
            "OPEN013", .warning, "Version without contents",
            meaning: """
                The folder of a version has no file `contents`. The version is left out, so no store of it is recognised.
                """,
            onDevice: "Its stores may not open.",
            remedy: "Restore the file from version control, or remove the folder.",
            failing: LintExample([v1, .init("App 2", nil)], current: "App"), corrected: LintExample([v1, v2]),
            check: .model(OpenRules.withoutContents)),
    ]
}
