//! A sample as a row of a flat table: which column is which figure.

use std::sync::LazyLock;

use experiment::VolumeRole;
use reported::{Reports, Series, memcached};

use crate::host::{EbsFigures, HostFigures, HostSample, Place, VolumeFigures};

/// Which figure of a sample a column of a table is: looked for once, whatever the number of its rows.
#[derive(Clone, Copy)]
pub struct Column(Figure);

#[derive(Clone, Copy)]
enum Figure {
    Time,
    UnixTime,
    Host(Place<HostFigures>),
    Database(&'static Series),
    Volume(VolumeRole, Place<VolumeFigures>),
    Ebs(VolumeRole, Place<EbsFigures>),
}

impl Column {
    /// The column of this name.
    pub fn of(name: &str) -> Result<Self, String> {
        Figure::of(name).map(Self).ok_or_else(|| format!("no sample of a host has a column {name}"))
    }

    /// Sets the figure of a sample.
    pub fn set(self, sample: &mut HostSample, value: f64) {
        match self.0 {
            Figure::Time => sample.t_s = value,
            Figure::UnixTime => sample.unix_ms = value as i64,
            Figure::Host(place) => *place(&mut sample.host) = Some(value),
            Figure::Database(series) => sample.database.set(series, Some(value)),
            Figure::Volume(role, place) => *place(sample.volumes.entry(role).or_default()) = Some(value),
            Figure::Ebs(role, place) => *place(sample.ebs.entry(role).or_default()) = Some(value),
        }
    }
}

impl Figure {
    fn of(column: &str) -> Option<Self> {
        match column {
            "t_s" => return Some(Self::Time),
            "unix_ms" => return Some(Self::UnixTime),
            _ => {}
        }
        if let Some((role, place)) = of_volume(VOLUME_COLUMNS.as_slice(), column, VolumeFigures::place) {
            return Some(Self::Volume(role, place));
        }
        if let Some((role, place)) = of_volume(EBS_COLUMNS.as_slice(), column, EbsFigures::place) {
            return Some(Self::Ebs(role, place));
        }
        HostFigures::place(column).map(Self::Host).or_else(|| Series::of_key(column).map(Self::Database))
    }
}

impl HostSample {
    /// The sample as a row of a flat table; every figure and every series of the product has a column, whether it is
    /// known or not. Those of a second and further data volume, of EBS, and of caches in front of the
    /// database are there where the host has one.
    pub fn columns(&self, reports: &Reports) -> Vec<(&'static str, Option<f64>)> {
        let none = VolumeFigures::default();
        let volume = |role| self.volumes.get(&role).unwrap_or(&none).values();
        let mut row = vec![("t_s", Some(self.t_s)), ("unix_ms", Some(self.unix_ms as f64))];
        row.extend(HostFigures::FIELDS.iter().copied().zip(self.host.values()));
        row.extend(reports.all_series().map(|series| (series.key, self.database.get(series))));
        let caches = memcached::REPORTS.all_series();
        row.extend(caches.filter_map(|series| Some((series.key, Some(self.database.get(series)?)))));
        for VolumeColumns { role, names, .. } in VOLUME_COLUMNS.iter() {
            let is_usual = matches!(role, VolumeRole::Data | VolumeRole::Commitlog);
            if is_usual || self.volumes.contains_key(role) {
                row.extend(names.iter().map(String::as_str).zip(volume(*role)));
            }
        }
        for VolumeColumns { role, names, .. } in EBS_COLUMNS.iter() {
            if let Some(figures) = self.ebs.get(role) {
                row.extend(names.iter().map(String::as_str).zip(figures.values()));
            }
        }
        row
    }

    /// The sample of a row. A volume without any figure is left out.
    pub fn from_columns(row: &[(&str, Option<f64>)]) -> Result<Self, String> {
        let mut sample = Self::default();
        for (name, value) in row {
            let column = Column::of(name)?;
            if let Some(value) = value {
                column.set(&mut sample, *value);
            }
        }
        Ok(sample)
    }
}

struct VolumeColumns {
    role: VolumeRole,
    /// `data_`, `data_2_`, ..., `commitlog_`; of EBS `data_ebs_`.
    prefix: String,
    names: Vec<String>,
}

static VOLUME_COLUMNS: LazyLock<[VolumeColumns; VolumeRole::ALL.len()]> =
    LazyLock::new(|| volume_columns("", VolumeFigures::FIELDS));
static EBS_COLUMNS: LazyLock<[VolumeColumns; VolumeRole::ALL.len()]> =
    LazyLock::new(|| volume_columns("ebs_", EbsFigures::FIELDS));

fn volume_columns(of: &str, fields: &[&str]) -> [VolumeColumns; VolumeRole::ALL.len()] {
    VolumeRole::ALL.map(|role| {
        let prefix = format!("{}_{of}", role.name().replace('-', "_"));
        let names = fields.iter().map(|field| format!("{prefix}{field}"));
        VolumeColumns { role, names: names.collect(), prefix }
    })
}

/// The volume and the place of a figure by its column; `None`: it is none of a volume.
fn of_volume<Figures>(
    all: &[VolumeColumns],
    column: &str,
    place: fn(&str) -> Option<Place<Figures>>,
) -> Option<(VolumeRole, Place<Figures>)> {
    all.iter().find_map(|of| {
        let figure = column.strip_prefix(of.prefix.as_str())?;
        Some((of.role, place(figure)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &Reports = &reported::cassandra::REPORTS;

    fn full() -> HostSample {
        let mut sample = HostSample { t_s: -3.5, unix_ms: 1_763_676_000_123, ..Default::default() };
        for (i, field) in HostFigures::FIELDS.iter().enumerate() {
            *HostFigures::place(field).unwrap()(&mut sample.host) = Some(i as f64 + 0.25);
        }
        for (series, i) in REPORTS.all_series().zip(1..) {
            sample.database.set(series, Some(f64::from(i)));
        }
        for role in [VolumeRole::Data, VolumeRole::Data2, VolumeRole::Commitlog] {
            for (i, field) in VolumeFigures::FIELDS.iter().enumerate() {
                let volume = sample.volumes.entry(role).or_default();
                *VolumeFigures::place(field).unwrap()(volume) = Some(1000.0 * i as f64);
            }
        }
        for role in [VolumeRole::Data2, VolumeRole::Commitlog] {
            for (i, field) in EbsFigures::FIELDS.iter().enumerate() {
                let ebs = sample.ebs.entry(role).or_default();
                *EbsFigures::place(field).unwrap()(ebs) = Some(1000.0 * i as f64 + 0.5);
            }
        }
        sample
    }

    #[test]
    fn a_row_gives_the_same_sample_back_and_missing_stays_missing() {
        for sample in [full(), HostSample { t_s: 1.0, ..Default::default() }] {
            assert_eq!(HostSample::from_columns(&sample.columns(REPORTS)), Ok(sample.clone()));
            let text = serde_json::to_string(&sample).unwrap();
            assert_eq!(serde_json::from_str::<HostSample>(&text).unwrap(), sample);
        }
    }

    #[test]
    fn what_ebs_counts_has_columns_where_it_was_read_alone() {
        let of_ebs = |sample: &HostSample| -> Vec<&'static str> {
            let columns = sample.columns(REPORTS).into_iter();
            columns.map(|(name, _)| name).filter(|name| name.contains("_ebs_")).collect()
        };
        assert_eq!(of_ebs(&HostSample::default()), Vec::<&str>::new());
        let columns = of_ebs(&full());
        assert_eq!(columns.len(), 2 * EbsFigures::FIELDS.len());
        assert_eq!((columns[0], columns[6]), ("data_2_ebs_reads", "data_2_ebs_volume_iops_exceeded_s"));
    }

    #[test]
    fn column_names_are_unique() {
        let columns = full().columns(REPORTS);
        let names: std::collections::BTreeSet<_> = columns.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), columns.len());
    }
}
