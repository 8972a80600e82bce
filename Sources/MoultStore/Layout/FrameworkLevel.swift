/// A build of Core Data, identified by a store's `NSPersistenceFrameworkVersion`, and what it writes.
///
/// Every difference between frameworks that affects a store's tables is here.
package struct FrameworkLevel: Sendable, Hashable, Comparable {
    package let number: Int

    /// The oldest and the newest framework whose stores were seen.
    package static let oldest = FrameworkLevel(230)
    package static let newest = FrameworkLevel(1526)

    package init(_ number: Int) { self.number = number }

    /// Whether it lies between levels whose stores were seen.
    package var isKnown: Bool { self >= .oldest && self <= .newest }
    /// The level whose rules hold as far as anybody knows: itself if it is known, otherwise the nearest one that is.
    package var nearestKnown: FrameworkLevel { min(max(self, .oldest), .newest) }

    package static func < (left: FrameworkLevel, right: FrameworkLevel) -> Bool { left.number < right.number }

    /// The order of the indexes and the `Z_` tables among the tables of a new store.
    package enum CatalogueOrder: Sendable {
        /// The `Z_` tables before everything else.
        case coreTablesFirst
        /// Each table followed by its indexes, then the `Z_` tables.
        case indexesAfterEachTable
        /// All tables, then the `Z_` tables, then the indexes.
        case coreTablesBeforeIndexes
        /// All tables, the indexes, the triggers, then the `Z_` tables.
        case coreTablesLast
    }

    package var catalogueOrder: CatalogueOrder {
        switch number {
        case ..<320: .coreTablesFirst
        case ..<637: .indexesAfterEachTable
        case ..<754: .coreTablesBeforeIndexes
        default: .coreTablesLast
        }
    }

    package var hasAutoVacuum: Bool { number >= 241 }
    package var writesAheadLog: Bool { number >= 479 }
    package var hasModelCache: Bool { number >= 637 }
    package var hasJoinTableIndexes: Bool { number >= 637 }
    /// Fetch indexes (from 836); before, indexed attributes and compound indexes, with other names and no collation.
    package var hasFetchIndexes: Bool { number >= 836 }
    package var hasPersistentHistory: Bool { number >= 851 }
    /// Unique indexes (from 865); before, `UNIQUE` inside the table.
    package var hasUniqueIndexes: Bool { number >= 865 }
    /// The hashes' digest in the metadata.
    package var hasHashesDigest: Bool { number >= 977 }
    /// History keeps its strings in a table of their own.
    package var hasHistoryStrings: Bool { number >= 973 }
    /// Count triggers test the range of `Z_ENT` if the entity has sub-entities.
    package var testsEntityRangeInCountTriggers: Bool { number < 1124 }
    /// The model's checksum in the metadata.
    package var hasModelChecksum: Bool { number >= 1327 }
    package var hasMaximumFramework: Bool { number >= 1523 }
}
