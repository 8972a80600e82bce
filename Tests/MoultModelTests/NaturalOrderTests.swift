import MoultBasics
import Testing

@Suite struct NaturalOrderTests {
    @Test(arguments: [
        ["Model", "Model 2", "Model 3", "Model 10", "Model 117"],
        ["1.9.0", "1.10.0", "2.0", "2.0.1"],
        ["Moody", "Moody 2", "moody 3"],
        ["V01", "V1a", "V2"],
        ["SampleModel", "SampleModel2", "SampleModel_v2"],
        ["A 99999999999999999999998", "A 99999999999999999999999"],
    ])
    func `names in order`(names: [String]) {
        for (position, name) in names.enumerated() {
            for later in names[(position + 1)...] {
                #expect(name.precedesNaturally(later), "\(name) < \(later)")
                #expect(!later.precedesNaturally(name), "\(later) < \(name)")
            }
            #expect(!name.precedesNaturally(name))
        }
    }

    @Test func `equal numbers are told apart by their spelling`() {
        #expect("V01".precedesNaturally("V1") != "V1".precedesNaturally("V01"))
    }
}
