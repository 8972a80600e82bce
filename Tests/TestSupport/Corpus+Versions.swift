import MoultModel
import MoultModelFiles
import Synchronization

extension Corpus {
    private static let known = Mutex<[String: Result<ModelVersions, any Error>]>([:])

    /// The versions of a bundle, read once for all the tests that look at them.
    ///
    /// - Throws: what reading the bundle throws.
    package static func versions(_ bundle: String) throws -> ModelVersions {
        try known.withLock { known in
            if let versions = known[bundle] { return versions }
            let versions = Result { try ModelVersions(contentsOf: bundle) }
            known[bundle] = versions
            return versions
        }.get()
    }
}
