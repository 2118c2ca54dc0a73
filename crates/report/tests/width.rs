//! The page at 400, 1,100 and 1,400 pixels in a real browser: wide tables scroll in boxes of their own, never the page;
//! the table of money does not scroll at 1,100; no two labels of the frontier collide.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "only the crate itself is pure: its test hands the page to a browser"
)]
#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]

use crate::page;
use std::process::Command;
use std::{env, fs};

use report::html;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

#[test]
fn the_page_is_no_wider_than_its_window() {
    let runs = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|o| o.status.success())
    };
    let Some(browser) = BROWSERS.into_iter().find(runs) else {
        assert!(env::var_os("CI").is_none(), "no browser: install chromium");
        eprintln!("SKIPPED: no browser on this machine; install chromium to run this test");
        return;
    };
    let long = "a-configuration-with-quite-a-long-name-gp3-16000-iops-1000-mib";
    let names = ["gp2-320", long, "gp3-3000", "gp3-12000", "io2-16000", "local-nvme"];
    let (mut analysis, mut charts) = page::run(&names, &["read-heavy"], 3);
    // A node was away in all of them.
    for cell in &mut analysis.cells {
        cell.faults = Some(page::faults::killed());
    }
    for trial in &mut charts.trials {
        trial.fault_spans = vec![(100.0, 160.0)];
    }
    // Crowded: three of six lie almost at the same place.
    for cell in &mut analysis.cells {
        if let Some(index) = ["gp3-3000", "gp3-12000"].iter().position(|n| *n == cell.configuration) {
            let throughput = cell.throughput_ops_per_s.as_mut().unwrap();
            throughput.median = 2000.0 + 40.0 * index as f64;
            (throughput.low, throughput.high) = (throughput.median * 0.9, throughput.median * 1.1);
        }
    }
    for (index, name) in ["gp3-3000", "gp3-12000"].iter().enumerate() {
        let configuration = analysis.configurations.iter_mut().find(|c| c.name == *name).unwrap();
        configuration.usd_per_month = Some(755.0 + 5.0 * index as f64);
    }
    // Everything that can be unfolded is.
    let page = html(&analysis, &charts).replace("<details", "<details open");
    for width in [400, 1100, 1400] {
        let scratch = env::temp_dir().join(format!("iopslab-width-{}-{width}", std::process::id()));
        fs::create_dir_all(&scratch).unwrap();
        fs::write(scratch.join("report.html"), &page).unwrap();
        // The report holds no script; the frame around it does, and says how wide the report wants to be.
        fs::write(
            scratch.join("frame.html"),
            format!(
                "<!DOCTYPE html><title>frame</title><p id=\"said\"></p>\
                 <iframe src=\"report.html\" style=\"width:{width}px;height:900px;border:0\"></iframe>\
                 <script>onload = () => {{ const page = frames[0].document, d = page.documentElement; \
                 const collide = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 \
                   && a.top < b.bottom - 1 && b.top < a.bottom - 1; \
                 let labels = 0, collisions = 0; \
                 for (const svg of page.querySelectorAll('.frontier svg')) {{ \
                   const boxes = [...svg.querySelectorAll('text.ink')].map(t => t.getBoundingClientRect()) \
                     .filter(b => b.width > 0); \
                   labels += boxes.length; \
                   boxes.forEach((a, i) => boxes.slice(0, i).forEach(b => {{ \
                     if (collide(a, b)) collisions += 1; }})); }} \
                 const money = page.querySelector('table.money').parentElement; \
                 const scrolls = money.scrollWidth > money.clientWidth + 1; \
                 document.getElementById('said').textContent = 'wants ' + d.scrollWidth + ' of ' + d.clientWidth + ', \
                 ' + labels + ' labels, ' + collisions + ' collisions, money ' + (scrolls ? 'scrolls' : 'fits') + '.'; \
                 }}</script>"
            ),
        )
        .unwrap();
        let output = Command::new(browser)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files", "--hide-scrollbars"])
            .args(["--window-size=1500,1000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", scratch.join("profile").display()))
            .arg(format!("file://{}", scratch.join("frame.html").display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let said = dom.split("id=\"said\">").nth(1).and_then(|s| s.split('<').next());
        // Two places, six configurations each.
        let money = if width == 400 { "scrolls" } else { "fits" };
        let expected = format!("wants {width} of {width}, 12 labels, 0 collisions, money {money}.");
        assert_eq!(said, Some(expected.as_str()), "{}", String::from_utf8_lossy(&output.stderr));
        let _ = fs::remove_dir_all(&scratch);
    }
}
