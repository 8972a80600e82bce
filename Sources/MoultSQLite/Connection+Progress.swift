import CSQLite

final class ProgressBox {
    let body: () -> Bool
    init(_ body: @escaping () -> Bool) { self.body = body }
}

extension Connection {
    /// Calls `isWanted` about every `instructions` steps of SQLite's machine while a statement runs; when it returns
    /// false the statement ends with the error `cancelled`. Nil takes the handler away.
    package func onProgress(every instructions: Int32 = 10_000, _ isWanted: (() -> Bool)?) {
        guard let isWanted else {
            sqlite3_progress_handler(handle, 0, nil, nil)
            progressBox = nil
            return
        }
        let box = ProgressBox(isWanted)
        progressBox = box
        sqlite3_progress_handler(
            handle, instructions,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<ProgressBox>.fromOpaque(pointer).takeUnretainedValue().body() ? 0 : 1
            }, Unmanaged.passUnretained(box).toOpaque())
    }
}
