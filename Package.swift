// swift-tools-version: 6.0
import PackageDescription

/// A target of Moult's, with the targets it may import; CI fails on an import that is not named here.
func module(_ name: String, _ dependencies: [String], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, path: path)
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
    .testTarget(name: name, dependencies: dependencies.map { .byName(name: $0) })
}

func system(_ name: String, _ pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
    name: "Moult",
    products: [
        .library(name: "Moult", targets: ["Moult"]),
        .library(name: "MoultCoreData", targets: ["MoultCoreData"]),
        .library(name: "MoultCommands", targets: ["MoultCommands"]),
        .executable(name: "moult", targets: ["moult-cli"]),
    ],
    targets: [
        system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        system("CZlib", "zlib", apt: "zlib1g-dev"),
        system("CCrypto", "libcrypto", apt: "libssl-dev"),

        module("MoultModel", ["CCrypto"]),
        module("MoultSystem", ["MoultModel", "CCrypto"]),
        module("MoultPropertyList", ["MoultModel", "CZlib"]),
        module("MoultModelFiles", ["MoultModel", "MoultPropertyList"]),
        module("MoultPlan", ["MoultModel"]),
        module("MoultSQLite", ["MoultModel", "CSQLite"]),
        module(
            "MoultStore",
            ["MoultModel", "MoultPropertyList", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultSystem"]),
        module("MoultObjects", ["MoultModel", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultSystem"]),
        // An app's own code in a migration: policies, stages, rules, and the registry that names them.
        module(
            "MoultTransform",
            [
                "MoultModel", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultObjects",
                "MoultSystem",
            ]),
        module("MoultVerify", ["MoultModel", "MoultSQLite"]),
        module(
            "MoultEngine",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultVerify", "MoultSystem",
                "MoultPropertyList", "MoultObjects", "MoultTransform",
            ]),
        module(
            "MoultReport",
            [
                "MoultModel", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultEngine",
                "MoultTransform",
            ]),
        module("Moult", ["MoultEngine", "MoultReport"]),
        module(
            "MoultCoreData",
            [
                "MoultModel", "MoultModelFiles", "MoultPropertyList", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultEngine", "MoultSystem", "MoultTransform",
            ]),
        module(
            "MoultCommands",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultStore", "MoultObjects", "MoultEngine",
                "MoultReport", "MoultTransform", "MoultSystem", "MoultSQLite", "MoultPropertyList",
            ]),
        // Not named moult: beside Moult that would be one folder on a file system that ignores case.
        .executableTarget(name: "moult-cli", dependencies: ["MoultCommands"]),

        // Two apps with their own tools, as users of the products would write them.
        .target(
            name: "ForumReader", dependencies: ["MoultCoreData"], path: "Examples/Forum/Sources/ForumReader",
            resources: [.copy("ForumReader.xcdatamodeld")]),
        .executableTarget(
            name: "forum-reader", dependencies: ["ForumReader", "MoultCommands"],
            path: "Examples/Forum/Sources/forum-reader"),
        .testTarget(
            name: "ForumReaderTests", dependencies: ["ForumReader", "forum-reader", "MoultCoreData", "TestSupport"],
            path: "Examples/Forum/Tests"),
        .target(name: "WealthLedger", dependencies: ["MoultCoreData"], path: "Examples/Wealth/Sources/WealthLedger"),
        .executableTarget(
            name: "wealth-ledger", dependencies: ["WealthLedger", "MoultCommands"],
            path: "Examples/Wealth/Sources/wealth-ledger"),
        .testTarget(
            name: "WealthLedgerTests",
            dependencies: ["WealthLedger", "wealth-ledger", "MoultCoreData", "TestSupport"],
            path: "Examples/Wealth/Tests"),

        // Measures Moult beside the sqlite3 shell: Benchmarks/run.
        .executableTarget(
            name: "moult-benchmarks",
            dependencies: [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultSystem",
                "MoultObjects", "MoultEngine", "MoultReport", "MoultTransform",
            ], path: "Benchmarks/Sources"),

        .target(
            name: "TestSupport",
            dependencies: ["MoultModel", "MoultModelFiles", "MoultStore", "MoultObjects", "MoultSystem"],
            path: "Tests/TestSupport"),
        tests(
            "MoultObjectsTests",
            [
                "MoultObjects", "MoultStore", "MoultModel", "MoultModelFiles", "MoultSQLite", "MoultSystem",
                "MoultPropertyList", "MoultEngine", "TestSupport", "objects-child",
            ]),
        // A process that saves into the store of the objects' tests while they do.
        .executableTarget(name: "objects-child", dependencies: ["TestSupport"], path: "Tests/ObjectsChild"),
        tests(
            "MoultTransformTests",
            [
                "MoultTransform", "MoultObjects", "MoultStore", "MoultModel", "MoultModelFiles", "MoultPlan",
                "MoultSQLite", "MoultSystem", "MoultEngine", "TestSupport",
            ]),
        tests("MoultModelTests", ["MoultModel", "TestSupport"]),
        tests("MoultModelFilesTests", ["MoultModelFiles", "MoultModel", "MoultPropertyList", "TestSupport"]),
        tests("MoultPropertyListTests", ["MoultModel", "MoultPropertyList", "TestSupport"]),
        tests("MoultSystemTests", ["MoultModel", "MoultSystem", "TestSupport"]),
        tests(
            "MoultStoreTests",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultSystem", "TestSupport",
            ]),
        tests(
            "MoultEngineTests",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultSystem", "MoultEngine", "MoultObjects", "MoultTransform", "MoultReport", "MoultVerify",
                "TestSupport", "engine-child",
            ]),
        // A process for the engine's tests to kill.
        .executableTarget(
            name: "engine-child",
            dependencies: [
                "MoultEngine", "MoultSystem", "MoultModel", "MoultPlan", "MoultStore", "MoultTransform", "TestSupport",
            ],
            path: "Tests/EngineChild"),
        // Hostile input for every reader; Scripts/fuzz builds it with libFuzzer.
        .executableTarget(
            name: "moult-fuzz",
            dependencies: [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultEngine", "MoultTransform", "MoultReport", "MoultSystem", "TestSupport",
            ],
            path: "Tests/Fuzz"),
        tests("MoultSQLiteTests", ["MoultModel", "MoultSQLite", "TestSupport"]),
        tests("MoultPlanTests", ["MoultModel", "MoultModelFiles", "MoultPlan", "TestSupport"]),
        tests("MoultReportTests", ["MoultModel", "MoultReport", "TestSupport"]),
        tests(
            "MoultCoreDataTests",
            [
                "MoultCoreData", "MoultModel", "MoultModelFiles", "MoultStore", "MoultSystem", "MoultTransform",
                "TestSupport",
            ]),
        tests(
            "MoultCommandsTests",
            [
                "moult-cli", "MoultCommands", "MoultModel", "MoultModelFiles", "MoultReport", "MoultTransform",
                "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
