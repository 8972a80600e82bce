/// Something that goes wrong at one numbered moment of a run.
package struct Fault: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The process dies: nothing after it happens, what was written stays.
        case stop = "process dies"
        /// The machine dies: of what was not synchronised, any part is lost, sectors torn.
        case powerLoss = "power cut"
        /// The machine dies in the middle of a write, which reaches the disk in part.
        case tornSector = "torn write"
        case inputOutputOnce = "I/O error"
        case inputOutputOn = "I/O errors from there on"
        case fullOnce = "disk full"
        case fullOn = "disk full from there on"
        /// SQLite gets no memory.
        case memoryOnce = "out of memory"
        case memoryOn = "no memory from there on"
        /// The clock goes back a year, or ten ahead.
        case clock = "clock jumps"
    }

    package var kind: Kind
    /// The number of the moment, from 1: a call of the file system, an allocation, or a look at the clock.
    package var number: Int
    /// The seed that decides what a power cut spares, and where a write is torn.
    package var seed: UInt64

    package init(_ kind: Kind, at number: Int, seed: UInt64 = 0) {
        self.kind = kind
        self.number = number
        self.seed = seed
    }
}

extension Fault.Kind {
    /// Whether the process ends.
    package var isDeath: Bool { [.stop, .powerLoss, .tornSector].contains(self) }
    /// Whether every later call fails too, in a process that continues.
    package var persists: Bool { [.inputOutputOn, .fullOn, .memoryOn].contains(self) }
    /// Whether some of what was written before it is not there afterwards.
    var losesWrites: Bool { self == .powerLoss || self == .tornSector }
    /// Whether its moments are SQLite's allocations.
    package var isOfMemory: Bool { self == .memoryOnce || self == .memoryOn }

    /// Whether the fault can meet a call of that kind.
    package func meets(_ operation: DiskOperation) -> Bool {
        switch self {
        case .stop, .powerLoss, .inputOutputOnce, .inputOutputOn: true
        case .tornSector: operation.writes
        case .fullOnce, .fullOn: operation.needsRoom
        case .memoryOnce, .memoryOn, .clock: false
        }
    }
}

/// The kind of disk operation that a numbered call of a run makes.
package enum DiskOperation: String, Sendable, Hashable, CaseIterable {
    case open, write, truncate, sync, remove, lock, shm, append, rename, copy, folder, mode

    var writes: Bool { [.write, .append].contains(self) }
    var needsRoom: Bool { [.write, .append, .copy, .folder].contains(self) }
}
