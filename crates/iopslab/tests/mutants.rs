//! Run directories with one file changed, as damage or malice has it: each is reported or refused, without a panic,
//! within ten seconds and 512 MiB; each tenth is compared and sized by, too. A few by default; `IOPSLAB_MUTANTS=1000`
//! (`make test-mutants`) makes as many.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Laboratory, files, two_equal};

const EXPERIMENT: &str = two_equal!("", "duration_s = 20\nrepetitions = 2\n[provider.simulated]\nrun_noise = 0.02\n");
/// How many there are unless `IOPSLAB_MUTANTS` says otherwise.
const FEW: u64 = 100;
/// What else reads a run is asked about one of so many.
const OTHERS_EVERY: u64 = 10;
const TARGET: [&str; 8] =
    ["--throughput", "2000", "--read-share", "1", "--data", "1GB", "--candidate", "r7i.large+gp3:100GiB"];
const LONGEST: Duration = Duration::from_secs(10);
/// Most memory of a report, KiB: that of `ulimit -d`.
const MOST_KIB: u64 = 512 << 10;

/// A generator of numbers that are the same in every run (xorshift, Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// The file with something of it changed, and what.
fn mutated(bytes: &[u8], dice: &mut Dice) -> (Vec<u8>, &'static str) {
    let mut bytes = bytes.to_vec();
    let at = dice.below(bytes.len());
    let what = match dice.below(7) {
        0 => {
            bytes.truncate(at);
            "cut"
        }
        1 => {
            for _ in 0..=dice.below(16) {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
            "bits turned"
        }
        2 => {
            let end = (at + 1 + dice.below(64)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
            "a piece twice"
        }
        3 => {
            bytes.splice(at..at, [0xff; 9]);
            "the largest numbers put in"
        }
        4 => {
            let end = (at + 1 + dice.below(64)).min(bytes.len());
            bytes.drain(at..end);
            "a piece taken out"
        }
        // A number of text is another one.
        _ => {
            let numbers =
                ["-1", "0", "1e300", "9e18", "4294967296", "18446744073709551615", "null", "\"\"", "[]", "{}"];
            let number = numbers[dice.below(numbers.len())];
            let is_digit = |at: &usize| bytes[*at].is_ascii_digit();
            let Some(start) = (at..bytes.len()).find(is_digit) else { return (Vec::new(), "emptied") };
            let end = (start..bytes.len()).find(|at| !is_digit(at)).unwrap_or(bytes.len());
            bytes.splice(start..end, number.bytes());
            "another number"
        }
    };
    (bytes, what)
}

/// Whether a report reads it, and does not write it.
fn is_read(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_string_lossy();
    !(name.starts_with("analysis") || name.starts_with("report") || name.ends_with(".csv"))
}

#[test]
fn a_changed_run_is_reported_or_refused_in_time_and_in_bounds() {
    let mutants = std::env::var("IOPSLAB_MUTANTS").map_or(FEW, |number| number.parse().unwrap());
    let lab = Laboratory::new();
    lab.write("x.toml", EXPERIMENT);
    assert!(lab.output(&["run", "x.toml", "--provider", "simulated"]).status.success());
    let run = lab.run_directory();
    let whole = lab.path().join("whole");
    assert!(Command::new("cp").arg("-r").arg(&run).arg(&whole).status().unwrap().success());
    let [named, whole] = [&run, &whole].map(|path| path.to_str().unwrap());
    let (compare, size) = (["compare", whole, named], [&["size", named], &TARGET[..]].concat());
    // Of the run as it is these are no refusals.
    lab.exits(0, &compare);
    let sized = lab.output(&size);
    assert!(matches!(sized.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&sized.stderr));
    let mut all = files(&run);
    all.retain(|file| is_read(file));
    for number in 1..=mutants {
        let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let path = &all[dice.below(all.len())];
        let before = std::fs::read(path).unwrap();
        let (after, what) = mutated(&before, &mut dice);
        std::fs::write(path, after).unwrap();
        let who = format!("mutant {number}, {} with {what}", path.strip_prefix(&run).unwrap().display());
        done_or_refused(&lab, &["report", named, "--verify"], &who);
        if number.is_multiple_of(OTHERS_EVERY) {
            done_or_refused(&lab, &compare, &who);
            done_or_refused(&lab, &size, &who);
        }
        std::fs::write(path, before).unwrap();
    }
    lab.exits(0, &["report", named, "--verify"]);
}

fn done_or_refused(lab: &Laboratory, arguments: &[&str], who: &str) {
    let who = format!("{who}: {}", arguments[0]);
    let asked = lab.iopslab(arguments);
    let mut bounded = Command::new("sh");
    bounded
        .args(["-c", &format!("ulimit -d {MOST_KIB}; exec \"$0\" \"$@\"")])
        .arg(asked.get_program())
        .args(asked.get_args())
        .current_dir(lab.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = bounded.spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let words = std::thread::spawn(move || {
        let mut words = Vec::new();
        let _ = stderr.read_to_end(&mut words);
        String::from_utf8_lossy(&words).into_owned()
    });
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if began.elapsed() > LONGEST => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{who}: it takes more than {LONGEST:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let words = words.join().unwrap();
    assert!(matches!(status.code(), Some(0..=3)), "{who}: {status}\n{words}");
    assert!(!words.contains("panicked"), "{who}: {words}");
}
