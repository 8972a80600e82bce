#if canImport(SwiftUI)
    import SwiftUI

    /// The screens of a launch, and then the app.
    public struct LaunchView<App: View>: View {
        @State private var launch: AppLaunch
        private let app: () -> App

        /// - Parameter app: the app's own view, made when the store is ready.
        public init(_ launch: AppLaunch, @ViewBuilder app: @escaping () -> App) {
            _launch = State(initialValue: launch)
            self.app = app
        }

        public var body: some View {
            switch launch.screen {
            case .open: app()
            case .working:
                ProgressView(value: launch.progress.fraction) { Text(launch.progress.words) }
                    .padding()
                    .task { await launch.begin() }
            case .question(let sentences):
                VStack(spacing: 16) {
                    Text("The update cannot keep everything:").font(.headline)
                    ForEach(sentences, id: \.self) { Text($0) }
                    Button("Go on") { Task { await launch.accept() } }
                }
                .padding()
            case .locked: Text("Unlock your device.")
            case .message(let text, let canGoBack):
                VStack(spacing: 16) {
                    Text(text)
                    Button("Try again") { Task { await launch.tryAgain() } }
                    if canGoBack { Button("Go back to the backup") { Task { await launch.goBack() } } }
                }
                .padding()
            }
        }
    }
#endif
