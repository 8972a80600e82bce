/// One file of a ``DiskModel``: what was written to it, and what of that has surely reached the disk.
final class DiskFile {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    private(set) var contents: [UInt8]
    private var durable: [UInt8]
    /// The changes since the last synchronisation, in order.
    private var pending: [Change] = []

    /// - Parameter isDurable: whether the contents have been on the disk for long.
    init(_ contents: [UInt8] = [], isDurable: Bool = false) {
        self.contents = contents
        durable = isDurable ? contents : []
        if !isDurable, !contents.isEmpty { pending = [.write(offset: 0, bytes: contents)] }
    }

    func apply(_ change: Change) {
        contents.apply(change)
        pending.append(change)
    }

    func synchronise() {
        durable = contents
        pending = []
    }

    /// Returns the contents that a power cut leaves: of what was not synchronised, any part, by sectors.
    func surviving(_ survivors: inout SurvivingWrites) -> [UInt8] {
        var bytes = durable
        for change in pending {
            switch change {
            case .truncate:
                if survivors.keeps() { bytes.apply(change) }
            case .write(let offset, let new):
                for piece in survivors.pieces(of: new, at: offset) { bytes.apply(piece) }
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func apply(_ change: DiskFile.Change) {
        switch change {
        case .write(let offset, let new):
            grow(to: offset + new.count)
            replaceSubrange(offset..<(offset + new.count), with: new)
        case .truncate(let size):
            if size < count { removeLast(count - size) } else { grow(to: size) }
        }
    }

    /// An array of zeros is copied whole; a lazy sequence of them is asked for each.
    private mutating func grow(to size: Int) {
        if count < size { append(contentsOf: [UInt8](repeating: 0, count: size - count)) }
    }
}
