//! What whoever gets into a management interface can do: have the JVM load a library, which runs with the JVM's rights.
//! iopslab never does; its stories try to, as somebody who has to be refused.

use std::time::Duration;

use super::jmx::{Argument, Jmx, JmxError};
use super::management::Management;

/// Commands of a JVM to itself.
const COMMANDS: &str = "com.sun.management:type=DiagnosticCommand";
/// The longest that an answer may take.
const AN_ANSWER: Duration = Duration::from_secs(30);

/// Has a JVM load a native library, as `jcmd PID JVMTI.agent_load` does. Errors: nobody answers, or it refuses. What it
/// says of a library that it cannot load is none.
#[doc(hidden)] // Public for the stories of other crates alone.
pub fn load_library(into: &Management, library: &str) -> Result<(), JmxError> {
    let mut connection = Jmx::connect(into, AN_ANSWER)?;
    connection.invoke(COMMANDS, "jvmtiAgentLoad", &[Argument::Texts(&[library])]).map(drop)
}
