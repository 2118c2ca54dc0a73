//! Sizes and times as `postgresql.conf` has them: a number, alone in the unit of the setting, or with a unit, `64MB`,
//! `15min` (PostgreSQL: "Parameter Names and Values"; units are written as here, with capitals where they stand).

/// What a setting counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// So many bytes.
    Bytes(f64),
    /// So many microseconds.
    Time(f64),
}

const SIZES: [(&str, f64); 5] =
    [("B", 1.0), ("kB", 1_024.0), ("MB", 1_048_576.0), ("GB", 1_073_741_824.0), ("TB", 1_099_511_627_776.0)];
const TIMES: [(&str, f64); 6] = [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7), ("h", 3.6e9), ("d", 8.64e10)];

impl Unit {
    /// As `pg_settings` names it: `8kB`, `ms`, `min`.
    pub fn of_settings(name: &str) -> Option<Self> {
        let digits = name.find(|c: char| !c.is_ascii_digit())?;
        let (count, unit) = name.split_at(digits);
        let count = if count.is_empty() { 1.0 } else { count.parse().ok()? };
        let bytes = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| Self::Bytes(count * bytes));
        bytes.or_else(|| TIMES.iter().find(|(name, _)| *name == unit).map(|(_, us)| Self::Time(count * us)))
    }

    /// The units that a value of it may have.
    pub fn names(self) -> Vec<&'static str> {
        self.all().iter().map(|(name, _)| *name).collect()
    }

    fn all(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Bytes(_) => &SIZES,
            Self::Time(_) => &TIMES,
        }
    }

    const fn one(self) -> f64 {
        match self {
            Self::Bytes(one) | Self::Time(one) => one,
        }
    }
}

/// A value in the unit of its setting; `None`: it is no number, or has a unit that the setting does not take.
pub(crate) fn amount(unit: Option<Unit>, text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let unit = unit?;
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, name) = text.split_at(at);
    let (_, factor) = unit.all().iter().find(|(known, _)| *known == name)?;
    let number: f64 = number.trim().parse().ok()?;
    number.is_finite().then(|| number * factor / unit.one())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_counted_in_the_unit_of_its_setting() {
        let unit = |name| Unit::of_settings(name);
        assert_eq!(amount(unit("8kB"), "64MB"), Some(8_192.0));
        assert_eq!(amount(unit("kB"), "4096"), Some(4_096.0));
        assert_eq!(amount(unit("s"), "15min"), Some(900.0));
        assert_eq!(amount(unit("ms"), "0.5 s"), Some(500.0));
        assert_eq!(amount(None, "0.9"), Some(0.9));
        for (name, wrong) in [("8kB", "64mb"), ("s", "15 minutes"), ("8kB", "15min"), ("s", "x"), ("s", "inf")] {
            assert_eq!(amount(unit(name), wrong), None, "{wrong}");
        }
        assert_eq!(amount(None, "5s"), None);
        assert_eq!(unit("horses"), None);
    }
}
