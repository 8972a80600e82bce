/// The objects that walks over to-one relationships have read last.
///
/// Until the next fetch, save or merge: what a context reads anew then is what the store holds then.
struct WalkedObjects {
    private static let limit = 4096

    private var objects: [Object] = []
    /// The oldest one, once there are ``limit``.
    private var oldest = 0

    mutating func add(_ object: Object) {
        guard objects.count == Self.limit else { return objects.append(object) }
        objects[oldest] = object
        oldest = (oldest + 1) % Self.limit
    }

    mutating func forget() {
        guard !objects.isEmpty else { return }
        objects = []
        oldest = 0
    }
}
