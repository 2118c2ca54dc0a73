//! The server alone, as tests and experiments start it: orders on stdin, answers on stdout.

fn main() -> Result<(), served::ServedError> {
    served::run()
}
