import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// The site that the code of an app works on: a working copy over which the statements of its pass have run.
///
/// What it writes are transactions of its own; a process that dies leaves the store as it was, and the code runs again
/// from the start.
package struct MigrationSite {
    /// `main` is the new store; the schema `source` is the old one, which is never changed.
    package let connection: Connection
    /// The path of the old store of this pass, for reading.
    package let source: String
    /// The external data of both: a new file lies in a folder of its own until the commit puts it in place.
    package let external: ExternalStorage
    package let system: any System
    /// Reports how much of the work is done, 0 to 1, with a sentence where there is one to say.
    package let report: (_ part: Double, _ message: String?) -> Void
    /// To be asked often; where it is true, throw ``cancellation``.
    package let isCancelled: () -> Bool
    /// Whether more than a quarter of an entity's objects may go to the quarantine.
    var allowsLargeQuarantine = false

    package var cancellation: MigrationError { MigrationRun.cancelled(connection.path) }
}
