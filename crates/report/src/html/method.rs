//! How to read the page: what the words mean and where the numbers come from.

use analysis::Analysis;

use super::element::text;
use crate::{answer, labels};

/// The whole section.
pub fn method(analysis: &Analysis) -> String {
    let emulated = labels::emulation(analysis).map_or_else(String::new, |how| format!("<li>{}</li>\n", text(&how)));
    let scaled = if analysis.scale > 1.0 {
        "<li>In a 1:N model IOPS, MB/s, CPUs, page cache and data set are divided by N: ratios between configurations carry \
         over, absolute figures do not. The smallest heap, the latency of one I/O and background CPU do not scale.</li>\n"
    } else {
        ""
    };
    format!(
        "<ul>\n<li>{}</li>\n\
         <li><b>faster</b>, <b>slower</b>: the difference is shown. <b>the same</b>: shown to lie within the margin of \
         practical importance. <b>no difference shown</b>: there may be one, smaller than these repetitions can show. \
         <b>too few to test</b>: fewer than three pairs of valid trials; low and high are the observed range. <b>Detectable</b>: \
         the smallest true factor that this many repetitions, spread as they are, show four times out of five at \
         the level of the verdict; as hard to see upwards as its inverse is downwards.</li>\n\
         <li>The unit is the trial. Its figures come from its steady window; percentiles from the merged histograms of all its \
         seconds, never averaged.</li>\n\
         <li>Closed loop (requests in flight) finds throughput; its latencies depend on the throughput each configuration \
         allowed. Open loop (a rate) measures from the moment a request was due.</li>\n\
         {emulated}{scaled}\
         <li>Where a number comes from: <code>trials/&lt;cell&gt;/&lt;block&gt;/</code> holds <code>trial.json</code>, \
         <code>latency.hlog</code> (HdrHistogram log), <code>host-database.parquet</code>, \
         <code>host-client.parquet</code> and the logs.</li>\n</ul>\n",
        text(&answer::spread(analysis))
    )
}
