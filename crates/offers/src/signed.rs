//! Signed requests to AWS: credentials and endpoints as the SDK finds them, the request itself by a plain HTTP client.
//!
//! Few calls are made, so the SDK's client crates would cost more than they give: that of EC2 alone has some 700
//! operations and takes minutes to compile.

use std::io::Read;
use std::time::{Duration, SystemTime};

use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_credential_types::provider::error::CredentialsError;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation, SigningInstructions,
    SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_http_client::tls;
use aws_types::service_config::ServiceConfigKey;

use crate::AwsError;

/// Attempts at a call that is throttled or that a server fails, as the SDK's standard retry mode makes.
const ATTEMPTS: u32 = 3;
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// A server of large objects that gives no byte for so long is gone.
const SILENCE: Duration = Duration::from_secs(30);
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

const S3: Service = Service { id: "S3", signing_name: "s3", host_prefix: "s3" };

/// One call: its headers and its body.
pub(super) struct Call<'a> {
    pub headers: &'a [(&'a str, &'a str)],
    pub body: String,
}

/// Someone who may ask AWS.
pub(super) struct Caller {
    config: SdkConfig,
    credentials: Credentials,
    agent: ureq::Agent,
    /// For objects that take longer than a call may.
    large: ureq::Agent,
}

impl Caller {
    /// Finds credentials: environment, shared configuration, SSO, web identity, container, instance. Those of a profile
    /// that is named come from nowhere else. Without a region the SDK looks for one.
    pub fn new(profile: Option<&str>, region: Option<&str>) -> Result<Self, AwsError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (config, credentials) = runtime.block_on(async {
            let config = configuration(profile, region).await;
            let provider = config.credentials_provider().ok_or(AwsError::NoCredentials)?;
            let found = provider.provide_credentials().await;
            let credentials = found.map_err(|error| match error {
                CredentialsError::CredentialsNotLoaded(_) => AwsError::NoCredentials,
                other => AwsError::Credentials(causes(&other)),
            })?;
            Ok::<_, AwsError>((config, credentials))
        })?;
        let tls = ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls.clone())
            .http_status_as_error(false)
            .timeout_global(Some(CALL_TIMEOUT))
            .build()
            .into();
        let large = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_connect(Some(SILENCE))
            .timeout_recv_response(Some(CALL_TIMEOUT))
            .timeout_per_read(Some(SILENCE))
            .build()
            .into();
        Ok(Self { config, credentials, agent, large })
    }

    /// The body of the answer; `Err` is what AWS said, or why it did not answer.
    pub fn ask(&self, service: Service, region: &str, call: &Call<'_>) -> Result<String, Refused> {
        let url = self.endpoint(service, region);
        repeated(|| self.once(service, region, ("POST", &url), call, SigningSettings::default))
    }

    /// The same of S3, where the method and the URL say what is asked.
    pub fn ask_s3(&self, method: &'static str, region: &str, url: &str, body: &str) -> Result<String, Refused> {
        let call = Call { headers: &[], body: body.to_owned() };
        repeated(|| self.once(S3, region, (method, url), &call, of_s3))
    }

    /// An object of S3 as it comes: it may be larger than memory.
    pub fn open_s3(&self, region: &str, url: &str, headers: &[(&str, &str)]) -> Result<Box<dyn Read>, Refused> {
        let call = Call { headers, body: String::new() };
        repeated(|| {
            let request = self.request(S3, region, ("GET", url), &call, of_s3)?;
            let answer = accepted(self.large.run(request))?;
            let is_part = headers.iter().any(|(name, _)| *name == "range");
            if is_part && answer.status() != ureq::http::StatusCode::PARTIAL_CONTENT {
                let refused = Refused::without_code("it is not given from where it ended".to_owned());
                return Err(CallFailure { refused, may_pass: false });
            }
            Ok(Box::new(answer.into_body().into_reader()) as Box<dyn Read>)
        })
    }

    /// A URL that gives whoever knows it the right to one request of S3, for so long.
    pub fn sign_url(&self, method: &'static str, region: &str, url: &str, lasts: Duration) -> Result<String, Refused> {
        let mut settings = of_s3();
        settings.payload_checksum_kind = PayloadChecksumKind::NoHeader;
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(lasts);
        let signed = self.signed(S3, region, (method, url), &[], SignableBody::UnsignedPayload, settings);
        let signed = signed.map_err(|error| unsigned(error).refused)?;
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in signed.params() {
            query.append_pair(name, value);
        }
        Ok(format!("{url}?{}", query.finish()))
    }

    /// Where a bucket answers: its own host, or below a stated endpoint. Names with dots are in no certificate.
    pub fn bucket_url(&self, region: &str, bucket: &str) -> String {
        match self.stated_endpoint(S3) {
            Some(url) => format!("{}/{bucket}", url.trim_end_matches('/')),
            None if bucket.contains('.') => format!("https://s3.{region}.{}/{bucket}", domain(region)),
            None => format!("https://{bucket}.s3.{region}.{}", domain(region)),
        }
    }

    fn once(
        &self,
        service: Service,
        region: &str,
        way: (&str, &str),
        call: &Call<'_>,
        settings: fn() -> SigningSettings,
    ) -> Result<String, CallFailure> {
        let request = self.request(service, region, way, call, settings)?;
        let mut answer = accepted(self.agent.run(request))?;
        answer.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string().map_err(CallFailure::unreachable)
    }

    /// A call, signed.
    fn request(
        &self,
        service: Service,
        region: &str,
        (method, url): (&str, &str),
        call: &Call<'_>,
        settings: fn() -> SigningSettings,
    ) -> Result<ureq::http::Request<String>, CallFailure> {
        let body = SignableBody::Bytes(call.body.as_bytes());
        let signed = self.signed(service, region, (method, url), call.headers, body, settings());
        let signed = signed.map_err(unsigned)?;
        let request = ureq::http::Request::builder().method(method).uri(url);
        let headers = call.headers.iter().copied().chain(signed.headers());
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        request.body(call.body.clone()).map_err(|error| unsigned(error.into()))
    }

    /// What signs a request (Signature Version 4).
    fn signed(
        &self,
        service: Service,
        region: &str,
        (method, url): (&str, &str),
        headers: &[(&str, &str)],
        body: SignableBody<'_>,
        settings: SigningSettings,
    ) -> Result<SigningInstructions, Box<dyn std::error::Error>> {
        let identity = self.credentials.clone().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(service.signing_name)
            .time(SystemTime::now())
            .settings(settings)
            .build()?
            .into();
        let request = SignableRequest::new(method, url, headers.iter().copied(), body)?;
        Ok(sign(request, &parameters)?.into_parts().0)
    }

    /// The region of the SDK's search.
    pub fn region(&self) -> Option<&str> {
        self.config.region().map(Region::as_ref)
    }

    /// The service's own endpoint if one is configured, else the one for all services, else the public one.
    fn endpoint(&self, service: Service, region: &str) -> String {
        self.stated_endpoint(service).map_or_else(
            || format!("https://{}.{region}.{}/", service.host_prefix, domain(region)),
            |url| format!("{}/", url.trim_end_matches('/')),
        )
    }

    fn stated_endpoint(&self, service: Service) -> Option<String> {
        let key =
            ServiceConfigKey::builder().service_id(service.id).env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
        let own = key.ok().and_then(|key| self.config.service_config()?.load_config(key));
        own.or_else(|| self.config.endpoint_url().map(str::to_owned))
    }
}

/// An answer that is no refusal.
fn accepted(
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<ureq::http::Response<ureq::Body>, CallFailure> {
    let mut answer = answer.map_err(CallFailure::unreachable)?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text =
        answer.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string().map_err(CallFailure::unreachable)?;
    let reported = reported(&text).unwrap_or_else(|| Refused::without_code(format!("HTTP status {status}")));
    Err(CallFailure {
        may_pass: status.is_server_error() || status.as_u16() == 429 || reported.reason.contains("Throttl"),
        refused: reported,
    })
}

/// Another attempt where one may help.
fn repeated<T>(mut once: impl FnMut() -> Result<T, CallFailure>) -> Result<T, Refused> {
    let mut attempt = 1;
    loop {
        match once() {
            Ok(answer) => return Ok(answer),
            Err(trouble) if attempt < ATTEMPTS && trouble.may_pass => {
                std::thread::sleep(Duration::from_millis(500) * attempt);
                attempt += 1;
            }
            Err(trouble) => return Err(trouble.refused),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn unsigned(error: Box<dyn std::error::Error>) -> CallFailure {
    CallFailure {
        refused: Refused::without_code(format!("the request cannot be signed: {}", causes(error.as_ref()))),
        may_pass: false,
    }
}

/// S3 takes paths as they are, and wants the hash of what comes.
fn of_s3() -> SigningSettings {
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings
}

/// Source: "AWS service endpoints", AWS General Reference; "Endpoints and ARNs for AWS in China".
fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

/// A region that is stated is asked of nobody.
async fn configuration(profile: Option<&str>, region: Option<&str>) -> SdkConfig {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https();
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http.clone());
    if let Some(region) = region {
        loader = loader.region(Region::new(region.to_owned()));
    }
    if let Some(profile) = profile {
        // In the SDK's chain variables such as AWS_ACCESS_KEY_ID come before a profile, even one that is named here:
        // the wrong account would be asked.
        let found = ProviderConfig::default().with_http_client(http);
        let own = ProfileFileCredentialsProvider::builder().configure(&found).profile_name(profile).build();
        loader = loader.profile_name(profile).credentials_provider(own);
    }
    loader.load().await
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// AWS's own word, such as `DependencyViolation`; `None` where AWS did not answer, or not in its form.
    pub code: Option<String>,
    /// For people; begins with the code.
    pub reason: String,
}

impl Refused {
    fn without_code(reason: String) -> Self {
        Self { code: None, reason }
    }
}

impl From<Refused> for String {
    fn from(refused: Refused) -> Self {
        refused.reason
    }
}

struct CallFailure {
    refused: Refused,
    /// Worth another attempt.
    may_pass: bool,
}

impl CallFailure {
    fn unreachable(error: ureq::Error) -> Self {
        Self { refused: Refused::without_code(causes(&error)), may_pass: true }
    }
}

/// `Code: message` of an error in XML (EC2) or JSON (price list).
fn reported(body: &str) -> Option<Refused> {
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
    let reason = format!("{code}: {}", message.as_deref().unwrap_or("no message"));
    Some(Refused { code: Some(code), reason })
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
    use super::reported;

    #[test]
    fn what_aws_says_is_told_whatever_its_form() {
        let xml = "<?xml version=\"1.0\"?><Response><Errors><Error><Code>UnauthorizedOperation</Code>\
                   <Message>You are not authorized.</Message></Error></Errors></Response>";
        let said = |body: &str| reported(body).map(|refused| (refused.code.unwrap_or_default(), refused.reason));
        let reported = said(xml).unwrap();
        assert_eq!(reported.0, "UnauthorizedOperation");
        assert_eq!(reported.1, "UnauthorizedOperation: You are not authorized.");
        let json = r#"{"__type":"com.amazonaws.pricing#AccessDeniedException","message":"no"}"#;
        assert_eq!(said(json).unwrap().1, "AccessDeniedException: no");
        assert_eq!(said("<html>gateway</html>"), None);
        assert_eq!(said("not today"), None);
    }
}
