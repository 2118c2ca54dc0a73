//! Signed requests to AWS: credentials and endpoints as the SDK finds them, the request itself by a plain HTTP client.
//!
//! Two calls are made, so the SDK's client crates would cost more than they give: that of EC2 alone has some 700
//! operations and takes minutes to compile.

use std::time::{Duration, SystemTime};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_credential_types::provider::error::CredentialsError;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_http_client::tls;
use aws_types::service_config::ServiceConfigKey;

use crate::AwsError;

/// Attempts at a call that is throttled or that a server fails, as the SDK's standard retry mode makes.
const ATTEMPTS: u32 = 3;
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// A page of the price list is a few MB.
const LARGEST_ANSWER: u64 = 256 << 20;

/// A service of AWS.
#[derive(Debug, Clone, Copy)]
pub(super) struct Service {
    /// In the shared configuration, and in `AWS_ENDPOINT_URL_<ID>`.
    pub id: &'static str,
    /// In the signature.
    pub signing_name: &'static str,
    /// What comes before the region in its host name.
    pub host_prefix: &'static str,
}

/// One call: a POST with these headers.
pub(super) struct Call<'a> {
    pub headers: &'a [(&'a str, &'a str)],
    pub body: String,
}

/// Someone who may ask AWS.
pub(super) struct Caller {
    config: SdkConfig,
    credentials: Credentials,
    agent: ureq::Agent,
}

impl Caller {
    /// Finds credentials: environment, shared configuration, SSO, web identity, container, instance.
    pub fn new(region: &str) -> Result<Self, AwsError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (config, credentials) = runtime.block_on(async {
            let config = configuration(region).await;
            let provider = config.credentials_provider().ok_or(AwsError::NoCredentials)?;
            let found = provider.provide_credentials().await;
            let credentials = found.map_err(|error| match error {
                CredentialsError::CredentialsNotLoaded(_) => AwsError::NoCredentials,
                other => AwsError::Credentials(causes(&other)),
            })?;
            Ok::<_, AwsError>((config, credentials))
        })?;
        let tls = ureq::tls::TlsConfig::builder()
            .root_certs(ureq::tls::RootCerts::PlatformVerifier)
            .build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_global(Some(CALL_TIMEOUT))
            .build()
            .into();
        Ok(Self {
            config,
            credentials,
            agent,
        })
    }

    /// The body of the answer; `Err` is what AWS said, or why it did not answer.
    pub fn ask(&self, service: Service, region: &str, call: &Call<'_>) -> Result<String, String> {
        let url = self.endpoint(service, region);
        let mut attempt = 1;
        loop {
            match self.once(service, region, &url, call) {
                Ok(answer) => return Ok(answer),
                Err(trouble) if attempt < ATTEMPTS && trouble.may_pass => {
                    std::thread::sleep(Duration::from_millis(500) * attempt);
                    attempt += 1;
                }
                Err(trouble) => return Err(trouble.reason),
            }
        }
    }

    fn once(&self, service: Service, region: &str, url: &str, call: &Call<'_>) -> Result<String, Trouble> {
        let headers = self.signature(service, region, url, call).map_err(|error| Trouble {
            reason: format!("the request cannot be signed: {}", causes(error.as_ref())),
            may_pass: false,
        })?;
        let mut request = self.agent.post(url);
        for (name, value) in call.headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        let mut answer = request.send(call.body.as_bytes()).map_err(Trouble::unreachable)?;
        let status = answer.status();
        let text = answer
            .body_mut()
            .with_config()
            .limit(LARGEST_ANSWER)
            .read_to_string()
            .map_err(Trouble::unreachable)?;
        if status.is_success() {
            return Ok(text);
        }
        let told = told(&text).unwrap_or_else(|| format!("HTTP status {status}"));
        Err(Trouble {
            may_pass: status.is_server_error() || status.as_u16() == 429 || told.contains("Throttl"),
            reason: told,
        })
    }

    /// Headers that sign the call (Signature Version 4).
    fn signature(
        &self,
        service: Service,
        region: &str,
        url: &str,
        call: &Call<'_>,
    ) -> Result<Vec<(String, String)>, Box<dyn std::error::Error>> {
        let identity = self.credentials.clone().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(service.signing_name)
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()?
            .into();
        let request = SignableRequest::new(
            "POST",
            url,
            call.headers.iter().copied(),
            SignableBody::Bytes(call.body.as_bytes()),
        )?;
        let (instructions, _) = sign(request, &parameters)?.into_parts();
        Ok(instructions
            .headers()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    /// The service's own endpoint if one is configured, else the one for all services, else the public one.
    fn endpoint(&self, service: Service, region: &str) -> String {
        let key = ServiceConfigKey::builder()
            .service_id(service.id)
            .env("AWS_ENDPOINT_URL")
            .profile("endpoint_url")
            .build();
        let own = key.ok().and_then(|key| self.config.service_config()?.load_config(key));
        let stated = own.or_else(|| self.config.endpoint_url().map(str::to_owned));
        stated.map_or_else(
            || format!("https://{}.{region}.{}/", service.host_prefix, domain(region)),
            |url| format!("{}/", url.trim_end_matches('/')),
        )
    }
}

/// Source: "AWS service endpoints", AWS General Reference; "Endpoints and ARNs for AWS in China".
fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    }
}

/// The region is stated, so that nobody is asked for it.
async fn configuration(region: &str) -> SdkConfig {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .region(Region::new(region.to_owned()))
        .load()
        .await
}

struct Trouble {
    reason: String,
    /// Worth another attempt.
    may_pass: bool,
}

impl Trouble {
    fn unreachable(error: ureq::Error) -> Self {
        Self {
            reason: causes(&error),
            may_pass: true,
        }
    }
}

/// `Code: message` of an error in XML (EC2) or JSON (price list).
fn told(body: &str) -> Option<String> {
    let (code, message) = if let Ok(document) = roxmltree::Document::parse(body) {
        let text = |name: &str| {
            let node = document.descendants().find(|node| node.has_tag_name(name));
            node.and_then(|node| node.text()).map(str::to_owned)
        };
        (text("Code")?, text("Message"))
    } else {
        let value: serde_json::Value = serde_json::from_str(body).ok()?;
        let code = value.get("__type")?.as_str()?.rsplit('#').next()?.to_owned();
        let message = ["message", "Message"].iter().find_map(|key| value.get(*key)?.as_str());
        (code, message.map(str::to_owned))
    };
    Some(format!("{code}: {}", message.as_deref().unwrap_or("no message")))
}

/// An error and every cause in turn.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_aws_says_is_told_whatever_its_form() {
        let xml = "<?xml version=\"1.0\"?><Response><Errors><Error><Code>UnauthorizedOperation</Code>\
                   <Message>You are not authorized.</Message></Error></Errors></Response>";
        assert_eq!(
            told(xml).as_deref(),
            Some("UnauthorizedOperation: You are not authorized.")
        );
        let json = r#"{"__type":"com.amazonaws.pricing#AccessDeniedException","message":"no"}"#;
        assert_eq!(told(json).as_deref(), Some("AccessDeniedException: no"));
        assert_eq!(told("<html>gateway</html>"), None);
        assert_eq!(told("not today"), None);
    }
}
