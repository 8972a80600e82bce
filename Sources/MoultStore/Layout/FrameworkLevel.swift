/// A build of Core Data, identified by a store's `NSPersistenceFrameworkVersion`, and the format it writes.
///
/// This type contains every difference between frameworks that affects a store's tables.
package struct FrameworkLevel: Sendable, Hashable, Comparable {
    package let number: Int

    /// The oldest and the newest framework of observed stores.
    package static let oldest = FrameworkLevel(230)
    package static let newest = FrameworkLevel(1526)

    package init(_ number: Int) { self.number = number }

    /// Whether the level is within the range of observed stores.
    package var isKnown: Bool { self >= .oldest && self <= .newest }
    /// The level whose rules apply to the best of our knowledge: the level itself if known, otherwise the nearest known
    /// one.
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
    /// Whether the level has fetch indexes (from 836). Earlier levels have indexed attributes and compound indexes,
    /// with other names and no collation.
    package var hasFetchIndexes: Bool { number >= 836 }
    package var hasPersistentHistory: Bool { number >= 851 }
    /// Whether the level has unique indexes (from 865). Earlier levels write `UNIQUE` inside the table.
    package var hasUniqueIndexes: Bool { number >= 865 }
    /// Whether the metadata contain the hashes' digest.
    package var hasHashesDigest: Bool { number >= 977 }
    /// Whether history keeps its strings in a separate table.
    package var hasHistoryStrings: Bool { number >= 973 }
    /// Whether count triggers test the range of `Z_ENT` if the entity has sub-entities.
    package var testsEntityRangeInCountTriggers: Bool { number < 1124 }
    /// Whether the metadata contain the model's checksum.
    package var hasModelChecksum: Bool { number >= 1327 }
    package var hasMaximumFramework: Bool { number >= 1523 }
}
