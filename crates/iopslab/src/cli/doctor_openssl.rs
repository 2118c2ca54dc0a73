//! A public kernel on this machine, beside instance types that others have measured with it: a cipher of
//! `openssl speed`, on one CPU and on all.

use std::time::Duration;

use ::catalog::{OPENSSL_BLOCK, OPENSSL_CIPHER, OpensslFamily, openssl_speed, openssl_speeds_near};
use process::machine::cpus;
use serde::Serialize;

/// Its name, and that of the package that has it.
pub const PROGRAM: &str = "openssl";
/// For so long each time.
const SECONDS: u32 = 1;
/// It is ended after this; it has to start a process for each CPU besides.
const PATIENCE: Duration = Duration::from_secs(15);
/// Two placements agree up to this factor, as sources of the catalog do that docs/catalog.md does not list.
const AGREE: f64 = 1.1;

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Openssl {
    version: String,
    cipher: &'static str,
    block_bytes: u32,
    /// A CPU with nothing on the others. MB: 10^6 bytes.
    one_mb_per_s: f64,
    cpus: usize,
    /// Each CPU with all of them at work.
    each_mb_per_s: f64,
    /// That, beside a vCPU of m5.2xlarge with all of them at work.
    speed: f64,
    /// Families with a vCPU like that.
    near: Vec<OpensslFamily>,
}

impl Openssl {
    /// Runs this program, [`PROGRAM`]; an error says why there is no figure.
    pub fn measure(program: &str, near: usize) -> Result<Self, String> {
        let version = called(program, &["version"])?;
        if !version.starts_with("OpenSSL ") {
            return Err(format!(
                "`{}` is not OpenSSL, with which the instance types of the catalog were measured",
                line(&version)
            ));
        }
        let cpus = cpus();
        let one_mb_per_s = mb_per_s(program, 1)?;
        let each_mb_per_s = mb_per_s(program, cpus)? / cpus as f64;
        let speed = openssl_speed(each_mb_per_s);
        Ok(Self {
            version: line(&version),
            cipher: OPENSSL_CIPHER,
            block_bytes: OPENSSL_BLOCK,
            one_mb_per_s,
            cpus,
            each_mb_per_s,
            speed,
            near: openssl_speeds_near(speed, near),
        })
    }

    /// For people.
    pub fn shown(&self) {
        println!(
            "openssl    {:.1} MB/s of {} on each of {} CPU{} at once, {:.1} on one alone: {:.3} of a vCPU of \
             m5.2xlarge with the same cipher, as Spare Cores published it ({})",
            self.each_mb_per_s,
            self.cipher,
            self.cpus,
            if self.cpus == 1 { "" } else { "s" },
            self.one_mb_per_s,
            self.speed,
            self.version
        );
        let near: Vec<String> = self.near.iter().map(|near| format!("{} {:.3}", near.family, near.speed)).collect();
        println!("           near: {}", near.join(", "));
        if let Some(speeds) = table_speeds(&self.near) {
            println!("           in the catalog these have a cpu_speed of {}", between(speeds));
        }
    }

    /// By which factor the catalog's speeds of the families near differ from the nearer of these two: by the clock of a
    /// vCPU that shares its core, and of one that is a core. 1: they include it. `None`: it has none of them.
    pub fn apart(&self, by_clock: [f64; 2]) -> Option<f64> {
        let (least, most) = table_speeds(&self.near)?;
        by_clock.into_iter().map(|speed| (least / speed).max(speed / most).max(1.0)).min_by(f64::total_cmp)
    }

    /// Whether both place this machine beside the same types.
    pub fn beside_clock(&self, by_clock: [f64; 2]) -> Option<String> {
        let theirs = between(table_speeds(&self.near)?);
        let apart = self.apart(by_clock)?;
        let [shared, whole] = by_clock;
        let how = match apart <= AGREE {
            true => "agree".to_owned(),
            false => format!("disagree by a factor of {apart:.2}"),
        };
        Some(format!(
            "the two placements {how}: by the clock a CPU here has a speed of {shared:.3}, or {whole:.3} as a whole \
             core; the families nearest by openssl have {theirs}"
        ))
    }
}

/// The least and the most of what the catalog counts with, of those of these families that it knows.
fn table_speeds(near: &[OpensslFamily]) -> Option<(f64, f64)> {
    let speeds = || near.iter().filter_map(|near| Some(near.cpu_speed?.speed));
    Some((speeds().min_by(f64::total_cmp)?, speeds().max_by(f64::total_cmp)?))
}

/// `1.298`, or `0.757 to 1.000`.
fn between((least, most): (f64, f64)) -> String {
    match least < most {
        true => format!("{least:.3} to {most:.3}"),
        false => format!("{least:.3}"),
    }
}

/// Of so many processes together, each of which enciphers on a CPU.
fn mb_per_s(program: &str, processes: usize) -> Result<f64, String> {
    let (seconds, block, count) = (SECONDS.to_string(), OPENSSL_BLOCK.to_string(), processes.to_string());
    let mut words = vec!["speed", "-mr", "-elapsed", "-seconds", &seconds, "-bytes", &block];
    if processes > 1 {
        words.extend(["-multi", &count]);
    }
    words.extend(["-evp", OPENSSL_CIPHER]);
    let output = called(program, &words)?;
    read(&output, processes)
        .ok_or_else(|| format!("`{program} {}` printed no rate of each process: {}", words.join(" "), line(&output)))
}

/// MB a second, all together; `None`: it is something else than one rate of each process.
fn read(output: &str, processes: usize) -> Option<f64> {
    let lines: Vec<&str> = match processes {
        1 => output.lines().collect(),
        // What each has printed is repeated (apps/speed.c, do_multi); the sum, which comes last, leaves out one that
        // failed.
        _ => output.lines().filter_map(|line| Some(line.strip_prefix("Got: ")?.rsplit_once(" from ")?.0)).collect(),
    };
    let blocks = format!("+H:{OPENSSL_BLOCK}");
    let headed = lines.iter().filter(|line| **line == blocks).count();
    let rates: Option<Vec<f64>> = lines.iter().filter_map(|line| line.strip_prefix("+F:")).map(rate).collect();
    let rates = rates.filter(|rates| (rates.len(), headed) == (processes, processes))?;
    Some(rates.iter().sum::<f64>() / 1e6)
}

/// `25:ARIA-256-CBC:16072704.00`, bytes a second; OpenSSL 1.1.1 has the name in small letters.
fn rate(line: &str) -> Option<f64> {
    let (name, rate) = line.split_once(':')?.1.split_once(':')?;
    let rate: f64 = rate.parse().ok()?;
    (name.eq_ignore_ascii_case(OPENSSL_CIPHER) && rate.is_finite() && rate > 0.0).then_some(rate)
}

fn called(program: &str, words: &[&str]) -> Result<String, String> {
    storage::call_program((program, PROGRAM), words, PATIENCE).map_err(|error| line(&error.to_string()))
}

fn line(text: &str) -> String {
    guarded::shown_line(text.trim())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// What OpenSSL 3.0.19 printed for one second of one process on a busy machine.
    const RECORDED: &str = "+H:16384\n+F:25:ARIA-256-CBC:16072704.00\n";
    /// That of two processes, as its apps/speed.c repeats them and adds them up.
    const TWO: &str = "Forked child 0\nForked child 1\n\
                       Got: +H:16384 from 0\nGot: +F:25:ARIA-256-CBC:16072704.00 from 0\n\
                       Got: +H:16384 from 1\nGot: +F:25:ARIA-256-CBC:20000000.00 from 1\n\
                       +H:16384\n+F:25:evp:36072704.00\n";

    #[test]
    fn a_rate_is_read_of_each_process_and_nothing_else_is_one() {
        let cases = [
            (RECORDED.to_owned(), 1, Some(16.072_704)),
            (TWO.to_owned(), 2, Some(36.072_704)),
            (RECORDED.replace("ARIA", "aria").replace("CBC", "cbc"), 1, Some(16.072_704)),
            // One of two, or two of three.
            (RECORDED.to_owned(), 2, None),
            (TWO.to_owned(), 3, None),
            (TWO.replace("Got: +F:25:ARIA-256-CBC:20000000.00 from 1\n", ""), 2, None),
            (TWO.replace("Got: +H:16384 from 1\n", ""), 2, None),
            // Another cipher, other blocks, no rate, one that is none, several.
            (RECORDED.replace("ARIA", "AES"), 1, None),
            (RECORDED.replace("16384", "8192"), 1, None),
            (RECORDED.replace(":16072704.00", ""), 1, None),
            (RECORDED.replace("16072704.00", "0.00"), 1, None),
            (RECORDED.replace("16072704.00", "nan"), 1, None),
            (RECORDED.replace("16072704.00", "inf"), 1, None),
            (RECORDED.replace(".00", ".00:2.00"), 1, None),
            (format!("{RECORDED}{RECORDED}"), 1, None),
            ("ARIA-256-CBC     16072.70k\n".to_owned(), 1, None),
            (String::new(), 1, None),
        ];
        for (output, processes, expected) in cases {
            assert_eq!(read(&output, processes), expected, "{processes}: {output}");
        }
    }

    #[test]
    fn a_program_that_gives_no_rate_is_named_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("openssl");
        let cases = [
            ("LibreSSL 4.0.0", "exit 9", "`LibreSSL 4.0.0` is not OpenSSL"),
            ("OpenSSL 3.0.19", "echo aria-256-cbc 16072.70k", "no rate of each process: aria-256-cbc 16072.70k"),
            ("OpenSSL 3.0.19", "echo aria is an unknown cipher >&2; exit 1", "aria is an unknown cipher"),
        ];
        let path = program.display().to_string();
        assert!(Openssl::measure(&path, 1).unwrap_err().contains("is not installed"));
        for (version, speed, why) in cases {
            let script = format!("#!/bin/sh\nif [ $1 = version ]; then echo {version}; exit; fi\n{speed}\n");
            std::fs::write(&program, script).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let error = Openssl::measure(&path, 1).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn two_placements_are_compared_by_the_speeds_that_the_catalog_has() {
        // Beside Skylake, but for c3 among them, which AWS's units have at 28 / 37.
        let near = openssl_speeds_near(1.0, 5);
        let (least, most) = table_speeds(&near).unwrap();
        assert!(least < most, "{near:?}");
        let openssl = Openssl {
            version: "OpenSSL 3.0.19".to_owned(),
            cipher: OPENSSL_CIPHER,
            block_bytes: OPENSSL_BLOCK,
            one_mb_per_s: 100.0,
            cpus: 2,
            each_mb_per_s: 66.737,
            speed: 1.0,
            near,
        };
        let middle = (least * most).sqrt();
        assert_eq!(openssl.apart([middle, 9.0]), Some(1.0));
        assert_eq!(openssl.apart([most * 2.0, most * 3.0]), Some(2.0));
        assert_eq!(openssl.apart([least / 8.0, most * 4.0]), Some(4.0));
        let sentence = openssl.beside_clock([middle, 9.0]).unwrap();
        assert!(sentence.starts_with("the two placements agree: by the clock"), "{sentence}");
        let sentence = openssl.beside_clock([most * 2.0, most * 3.0]).unwrap();
        let both = [format!("a speed of {:.3}, or {:.3}", most * 2.0, most * 3.0), format!("{least:.3} to {most:.3}")];
        assert!(sentence.starts_with("the two placements disagree by a factor of 2.00: "), "{sentence}");
        assert!(both.iter().all(|figures| sentence.contains(figures)), "{sentence}");
    }

    #[test]
    fn families_without_a_speed_in_the_catalog_compare_with_nothing() {
        let mut near = openssl_speeds_near(2.0, 1);
        assert!(near[0].family.starts_with("m9g") && table_speeds(&near).is_none(), "{near:?}");
        near.extend(openssl_speeds_near(1.0, 1));
        assert!(table_speeds(&near).is_some());
    }
}
