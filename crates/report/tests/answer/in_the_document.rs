//! The sentences in the document, and the guard that holds them against it.

use analysis::{DecidedBy, NotConsidered, NotJudged};
use report::{answer, document};

use super::{run, said, story, with};
use crate::contradictions::contradictions;

#[test]
fn the_document_holds_the_sentences_beside_the_values() {
    let mut analysis = story();
    analysis.recommendation.not_considered =
        vec![NotConsidered { configuration: "nvme".into(), why: NotJudged::NoPrice }];
    let mut json = document(&analysis);
    let words = said(&analysis);
    assert_eq!(json["answer"], serde_json::json!(words.lines()));
    let recommendation = &json["recommendation"];
    assert_eq!((recommendation["status"].as_str(), recommendation["run"].as_str()), (Some("decided"), Some("io2")));
    assert!(recommendation["because"].as_str().unwrap().starts_with("3.00 times (2.85 to 3.15)"));
    assert!(recommendation["would_decide"].is_null());
    assert!(recommendation["doubts"][1].as_str().unwrap().starts_with("This is a 1:16 model"));
    assert_eq!(recommendation["not_considered"], serde_json::json!([{"configuration": "nvme", "why": "no price"}]));
    assert_eq!(recommendation["places"].as_array().unwrap().len(), 2);
    assert!(json["value_of_money"][0]["reason"].as_str().unwrap().starts_with("gp3 is worth it: 2.00 times"));
    assert!(json["decision"][0]["caution"].as_str().unwrap().contains("closed loop"));
    assert!(json["spread"].as_str().unwrap().contains("4.00 %"));
    let limit = &mut json["cells"][0]["limit"];
    assert_eq!(limit["message"], "data volume: 990 of 1,000 IOPS (99 %).");
    // Everything else is the analysis as it is.
    for cell in json["cells"].as_array_mut().unwrap() {
        cell["limit"].as_object_mut().unwrap().remove("message");
    }
    assert_eq!(json["cells"], serde_json::to_value(&analysis.cells).unwrap());
}

#[test]
fn the_guard_against_contradictions_sees_them() {
    let analysis = with(DecidedBy::Value, run("io2"));
    let lines = answer(&analysis).lines();
    assert_eq!(contradictions(&analysis, &lines), Vec::<String>::new());
    let headline = lines[0].clone();
    for (wrong, why) in [
        (headline.replace("Run io2", "Run gp3"), "another configuration"),
        (headline.replace("3.00 times", "3.01 times"), "a factor that nobody measured"),
        (headline.replace("2.85 to", "2.84 to"), "another interval"),
        (headline.replace("$500.00", "$501.00"), "another price"),
        (format!("{headline} gp3 is not worth it: 2.00 times the throughput."), "another verdict"),
        (format!("{headline} About 7 repetitions would decide."), "repetitions from nowhere"),
        (format!("{headline} read p99 3.33 ms."), "a latency from nowhere"),
    ] {
        assert_ne!(wrong, headline, "{why}");
        assert!(!contradictions(&analysis, &[wrong]).is_empty(), "{why}");
    }
    assert!(!contradictions(&analysis, &[headline, "Run gp2: because.".into()]).is_empty(), "two winners");
}
