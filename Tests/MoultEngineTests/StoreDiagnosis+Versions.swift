import Moult
import MoultBasics
import MoultCare
import MoultModel

extension StoreDiagnosis {
    /// A diagnosis with the versions of a model and nothing else.
    init(_ store: String, versions: ModelVersions?, to target: String? = nil, on system: any System = POSIXSystem()) {
        self.init(store, versions.map { StoreSession.Context($0) }, to: target, on: system)
    }
}
