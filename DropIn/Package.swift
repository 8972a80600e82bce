// swift-tools-version: 6.0
import PackageDescription

// Modules with the names of Apple's, for platforms that have neither. A package of its own, so that it is never
// resolved where Apple's modules are: Documentation/OneSourceTwoPlatforms.md.
let package = Package(
    name: "DropIn",
    products: [
        .library(name: "SwiftData", targets: ["SwiftData"]),
        .library(name: "CoreData", targets: ["CoreData"]),
    ],
    dependencies: [.package(name: "Moult", path: "..")],
    targets: [
        .target(name: "SwiftData", dependencies: [.product(name: "MoultData", package: "Moult")]),
        .target(name: "CoreData", dependencies: [.product(name: "MoultNSCoreData", package: "Moult")]),
        .testTarget(name: "SwiftDataTests", dependencies: ["SwiftData"]),
        .testTarget(name: "CoreDataTests", dependencies: ["CoreData"]),
    ],
    swiftLanguageModes: [.v6]
)
