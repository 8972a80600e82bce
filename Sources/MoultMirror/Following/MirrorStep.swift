import MoultEngine
import MoultStore

/// The data that a step has read, ready to be written.
struct MirrorStep {
    let means: MirrorMeans
    /// The database that holds the rows.
    let fresh: String
    let tables: [MirroredTable]
    let metadata: StoreMetadata
    let transaction: Int64?
    /// By table of the store that follows, the highest key that was handed out.
    let highestKeys: [(root: Int, highest: Int64)]
    /// The folders in which files of external data are looked for.
    let external: [ExternalStorage]
}
