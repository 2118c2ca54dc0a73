//! `iopslab catalog refresh` against a real AWS API server on this machine (moto), and a user's own types.

#![cfg(feature = "aws")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Exits, Laboratory, wait_for};
use serde_json::{Value, json};

/// moto's server, ended with the test.
struct Aws {
    server: Child,
    address: String,
}

impl Aws {
    fn start() -> Self {
        let program = std::env::var_os("IOPSLAB_MOTO_SERVER").map_or_else(installed, PathBuf::from);
        assert!(program.exists(), "{} is missing; run scripts/setup.sh --tests", program.display());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let aws = Self { server, address: format!("127.0.0.1:{port}") };
        wait_for("moto's server", Duration::from_secs(60), || TcpStream::connect(&aws.address).is_ok());
        aws
    }

    /// What `iopslab` gives a user of this AWS.
    fn document(&self, lab: &Laboratory, arguments: &[&str]) -> Value {
        lab.iopslab(arguments)
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env_remove("AWS_REGION")
            .exits(0)
            .json()
    }
}

impl Drop for Aws {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn installed() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"), PathBuf::from);
    cache.join("iopslab/moto-5.2/bin/moto_server")
}

#[test]
fn what_aws_tells_comes_before_the_programs_own_table() {
    let (lab, aws) = (Laboratory::new(), Aws::start());
    let before = lab.exits(0, &["--format", "json", "catalog", "list"]).json();
    let reported = aws.document(&lab, &["--format", "json", "catalog", "refresh"]);
    // moto 5.2 carries DescribeInstanceTypes dumps of real regions, and no price list.
    let types = reported["instance_types"].as_u64().unwrap();
    assert!(types > 700, "{reported}");
    assert!(reported["prices_missing"].as_str().unwrap().contains("price list"), "{reported}");
    let file = lab.path().join("catalog/00-aws-us-east-1.toml");
    assert_eq!(reported["file"], file.display().to_string());

    let after = lab.exits(0, &["--format", "json", "catalog", "list"]).json();
    let count = |list: &Value| list.as_array().unwrap().len() as u64;
    assert_eq!(
        count(&after),
        count(&before) + reported["new_instance_types"].as_u64().unwrap(),
        "new types are added, known ones are replaced"
    );
    // What AWS does not publish stays: measured disks, prices with their days, years of introduction.
    let show = lab.exits(0, &["--format", "json", "catalog", "show", "i3.4xlarge"]).json();
    assert_eq!(show["instance"]["local_disks"]["read_iops"], 825_000.0);
    assert_eq!(show["instance"]["on_demand_usd_per_hour"], 1.248);
    let cost = ["--format", "json", "catalog", "cost", "i3.2xlarge*3", "--price-date", "2017-11-12"];
    let cost = lab.exits(0, &cost).json();
    assert_eq!(cost["usd_per_month"], 1366.56);

    // Each of its two network cards has the bandwidth of both.
    let show = lab.exits(0, &["--format", "json", "catalog", "show", "r6in.32xlarge"]).json();
    assert_eq!(show["instance"]["network_gbps"], 200.0);

    // A second refresh keeps prices that the file has and AWS does not give.
    let text = std::fs::read_to_string(&file).unwrap();
    let priced = text
        .replace("name = \"i3.4xlarge\"\n", "name = \"i3.4xlarge\"\nusd_per_hour = 1.5\nprice_date = \"2026-11-01\"\n");
    assert_ne!(priced, text);
    std::fs::write(&file, priced).unwrap();
    aws.document(&lab, &["--format", "json", "catalog", "refresh"]);
    let show = lab.exits(0, &["--format", "json", "catalog", "show", "i3.4xlarge"]).json();
    assert_eq!(show["instance"]["on_demand_usd_per_hour"], 1.5);
    assert_eq!(show["instance"]["price_date"], "2026-11-01");
}

/// Answers GetProducts on this machine in the documented form, two products a page: moto has no price list. Not AWS:
/// that the real one answers so is not shown by this.
struct PriceList {
    address: String,
}

impl PriceList {
    /// `products` by product family; each is (attributes, terms).
    fn start(products: Vec<(&'static str, Value, Value)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                drop(answer(connection.unwrap(), &products));
            }
        });
        Self { address }
    }
}

fn answer(connection: TcpStream, products: &[(&'static str, Value, Value)]) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let (mut length, mut is_get_products) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        is_get_products |= line == "x-amz-target: awspricelistservice.getproducts";
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let filter = |field: &str| {
        let filters = asked["Filters"].as_array().cloned().unwrap_or_default();
        let found = filters.into_iter().find(|f| f["Field"] == field && f["Type"] == "TERM_MATCH");
        found.and_then(|f| f["Value"].as_str().map(str::to_owned)).unwrap_or_default()
    };
    let is_right = is_get_products && asked["ServiceCode"] == "AmazonEC2" && filter("regionCode") == "eu-west-1";
    let family = filter("productFamily");
    let listed: Vec<String> = products
        .iter()
        .filter(|(of, _, _)| is_right && *of == family)
        .map(|(of, attributes, terms)| {
            json!({ "product": { "productFamily": of, "attributes": attributes }, "terms": terms }).to_string()
        })
        .collect();
    let from: usize = asked["NextToken"].as_str().and_then(|token| token.parse().ok()).unwrap_or(0);
    let mut page =
        json!({ "FormatVersion": "aws_v1", "PriceList": listed.iter().skip(from).take(2).collect::<Vec<_>>() });
    if listed.len() > from + 2 {
        page["NextToken"] = json!((from + 2).to_string());
    }
    let page = page.to_string();
    write!(
        reader.get_mut(),
        "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n\
         {page}",
        page.len()
    )
}

#[test]
fn prices_of_another_region_are_read_page_by_page() {
    let (lab, aws) = (Laboratory::new(), Aws::start());
    let on_demand = |unit: &str, usd: &str| {
        let dimension = json!({ "unit": unit, "pricePerUnit": { "USD": usd } });
        json!({ "OnDemand": { "A": { "priceDimensions": { "B": dimension } } } })
    };
    let instance = |name: &str, usd: &str| {
        let attributes = json!({ "instanceType": name, "usagetype": format!("EUW1-BoxUsage:{name}") });
        ("Compute Instance", attributes, on_demand("Hrs", usd))
    };
    let volume =
        |family, usage: &str, unit: &str, usd: &str| (family, json!({ "usagetype": usage }), on_demand(unit, usd));
    let list = PriceList::start(vec![
        instance("r4.4xlarge", "1.1840000000"),
        instance("r5.4xlarge", "1.1280000000"),
        instance("m5.large", "0.1070000000"),
        volume("Storage", "EUW1-EBS:VolumeUsage.gp3", "GB-Mo", "0.0880000000"),
        volume("System Operation", "EUW1-EBS:VolumeP-IOPS.gp3", "IOPS-Mo", "0.0055000000"),
        volume("Provisioned Throughput", "EUW1-EBS:VolumeP-Throughput.gp3", "GiBps-mo", "45.0560000000"),
    ]);
    let reported = lab
        .iopslab(&["--format", "json", "catalog", "refresh", "--region", "eu-west-1"])
        .env("AWS_ENDPOINT_URL", format!("http://{}", aws.address))
        .env("AWS_ENDPOINT_URL_PRICING", format!("http://{}", list.address))
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .exits(0)
        .json();
    assert_eq!(
        (
            reported["priced_instance_types"].as_u64(),
            reported["priced_volume_types"].as_u64(),
            reported["prices_missing"].is_null()
        ),
        (Some(3), Some(1), true),
        "{reported}"
    );
    let cost = |more: &[&str]| {
        let arguments = [&["--format", "json", "catalog", "cost", "m5.large+gp3:100GiB:4000:225"], more].concat();
        lab.exits(0, &arguments).json()["usd_per_month"].as_f64().unwrap()
    };
    // 730 x 0.107 + 100 x 0.088 + 1,000 x 0.0055 + 100 x 45.056 / 1024.
    assert!((cost(&["--region", "eu-west-1"]) - (78.11 + 8.8 + 5.5 + 4.4)).abs() < 1e-6);
    assert!((cost(&[]) - (730.0 * 0.096 + 8.0 + 5.0 + 4.0)).abs() < 1e-6, "prices of us-east-1 are what they were");
    let stderr = lab.exits(2, &["catalog", "cost", "c5.large", "--region", "eu-west-1"]).stderr;
    assert!(stderr.contains("it is not counted as 0"), "{stderr}");
}

#[test]
fn an_aws_that_does_not_answer_changes_nothing() {
    let lab = Laboratory::new();
    let stderr = lab
        .iopslab(&["catalog", "refresh", "--region", "eu-west-1"])
        // Nobody listens there.
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .exits(1)
        .stderr;
    assert!(stderr.contains("eu-west-1") && stderr.contains("help:"), "{stderr}");
    assert!(!lab.path().join("catalog").exists());
}

#[test]
fn without_credentials_it_says_so_in_one_line() {
    let lab = Laboratory::new();
    let mut command = lab.iopslab(&["catalog", "refresh"]);
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_REGION"] {
        command.env_remove(variable);
    }
    let stderr = command
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .exits(1)
        .stderr;
    let errors: Vec<&str> = stderr.lines().filter(|line| line.contains("error")).collect();
    assert_eq!(errors, ["error: no AWS credentials were found"], "{stderr}");
}
