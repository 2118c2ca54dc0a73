//! Hit ratios of a cache by its size.

use miss_ratio::{Point, TierCurve};

use crate::document::section::Section;
use crate::document::table::{Rows, rows};
use crate::document::terminal::plain;
use crate::figures::{GIB, count, given, given_percent, number, when, whole};
use crate::labels;

/// One table for each workload, at most `width` columns wide. `ttl_s`: seconds after which items expire; `None`: never.
/// `scale`: N of the 1:N model whose records these are. `left_out`: why other workloads have no curve.
pub fn tier_curves(curves: &[TierCurve], ttl_s: Option<f64>, scale: f64, left_out: &[String], width: usize) -> String {
    let mut sections: Vec<Section<'_>> = curves.iter().map(|curve| of_one(curve, ttl_s, scale)).collect();
    let read = "Hit ratio: of reads of single records, once the cache is as full as it gets, as memcached's segmented \
                LRU has it. ±: 95 % interval of five samples of the keys, in points; what the model leaves out is not \
                in it.";
    let read = (!curves.is_empty()).then(|| read.to_owned());
    let left_out = left_out.iter().map(|why| format!("left out: {why}"));
    sections.push(Section::new("read", "").paragraphs(read.into_iter().chain(left_out)));
    plain(sections, width)
}

fn of_one(curve: &TierCurve, ttl_s: Option<f64>, scale: f64) -> Section<'_> {
    let expiry = ttl_s.map_or_else(|| "no TTL".to_owned(), |ttl| format!("TTL {} s", given(ttl)));
    let head = format!(
        "{}: {} records{} of {} B with key, header and lengths of fields, in chunks of {} B; writes: {}; {expiry}",
        curve.workload,
        count(curve.records),
        when(scale != 1.0, || {
            let full = whole(curve.records as f64 * scale);
            format!(" of the {} model ({full} at full size)", labels::scale(scale))
        }),
        count(curve.item.bytes),
        count(curve.item.chunk_bytes),
        curve.rules.policy
    );
    Section::new("curve", "").paragraph(head).table(points(curve, scale))
}

fn points(curve: &TierCurve, scale: f64) -> Rows<&Point> {
    let sized = rows("", &curve.points)
        .number("Of the records", |point| given_percent(point.share_of_records))
        .number("GiB (-m)", |point| number(point.memory_bytes / GIB));
    let sized = match scale == 1.0 {
        true => sized,
        false => sized.number("GiB at full size", |point| number(curve.item.memory_for(point.items * scale) / GIB)),
    };
    sized
        .number("Hit ratio %", |point| format!("{:.1}", point.hit_ratio * 100.0))
        .number("±", |point| format!("{:.1}", point.half_width * 100.0))
}
