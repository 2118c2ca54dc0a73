//! EC2's Query API: an action with its parameters in a form, answered in XML.

use crate::signed::{Call, Caller, Refused, Service};

const EC2: Service = Service { id: "EC2", signing_name: "ec2", host_prefix: "ec2" };
const API_VERSION: &str = "2016-11-15";

/// Asks EC2 in a region.
pub(super) fn ask(
    caller: &Caller,
    region: &str,
    action: &str,
    parameters: &[(String, String)],
) -> Result<String, Refused> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", API_VERSION);
    for (name, value) in parameters {
        form.append_pair(name, value);
    }
    let call =
        Call { headers: &[("content-type", "application/x-www-form-urlencoded; charset=utf-8")], body: form.finish() };
    caller.ask(EC2, region, &call)
}
