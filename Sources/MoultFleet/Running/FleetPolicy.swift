/// The rules by which a run treats its stores.
package struct FleetPolicy: Sendable, Equatable {
    /// The number of stores that are worked on at a time, in all and on one device.
    package var jobs = 1
    package var jobsOfDevice = Int.max
    /// Seconds that one store may take; nil for ten minutes plus twenty times the estimate.
    package var time: Double?
    /// Bytes of memory that its process may have; nil for no limit.
    package var memory: Int64?
    /// The number of times that a failing store is tried.
    package var attempts = 3
    /// After how many deaths of its process it is set aside.
    package var deaths = 3
    /// The run starts no further store after so many failures; nil for no limit.
    package var failures: Int?
    /// The part of the stores that comes first; nil for no canary.
    package var canary: Canary?
    /// States that are tried again although they are not by themselves.
    package var retried: Set<FleetResult.State> = []

    package init() {}

    /// The stores that come first, and what has to become of them before the others follow.
    package struct Canary: Sendable, Equatable {
        /// From 0 to 1.
        package var share: Double
        /// The part of them that may fail, from 0 to 1; nil if somebody has to approve in any case.
        package var tolerance: Double?

        package init(share: Double, tolerance: Double?) { (self.share, self.tolerance) = (share, tolerance) }
    }

    func seconds(for entry: FleetEntry, of size: Int64) -> Double {
        time ?? 600 + 20 * max(entry.estimate, FleetEstimate.seconds(bytes: size))
    }
}
