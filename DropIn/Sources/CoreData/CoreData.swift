// Core Data under its own name: Documentation/OneSourceTwoPlatforms.md.
@_exported import MoultNSCoreData

// Foundation has empty classes with these names on Linux. Declared here, `CoreData.NSExpression` is not ambiguous.

/// An expression composed of parts, for dictionary results and comparisons.
public typealias NSExpression = MoultNSCoreData.NSExpression
/// A comparison composed of parts.
public typealias NSComparisonPredicate = MoultNSCoreData.NSComparisonPredicate
