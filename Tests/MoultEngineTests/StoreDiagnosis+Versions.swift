import MoultCare
import MoultModel
import MoultReport
import MoultSystem

extension StoreDiagnosis {
    /// A diagnosis with the versions of a model and nothing else.
    init(_ store: String, versions: ModelVersions?, to target: String? = nil, on system: any System = POSIXSystem()) {
        self.init(store, versions.map { StoreSession.Context($0) }, to: target, on: system)
    }
}
